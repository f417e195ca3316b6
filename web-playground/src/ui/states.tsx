import type { ReactNode } from 'react'

/** There is nothing: says so, and what to do next. */
export function Empty({ title, children }: { readonly title: string; readonly children?: ReactNode }) {
  return (
    <div className="empty">
      <p className="empty-title">{title}</p>
      {children && <div className="quiet">{children}</div>}
    </div>
  )
}

/** Something could not be read. */
export function Problem({ message, onRetry }: { readonly message: string; readonly onRetry?: () => void }) {
  return (
    <div className="problem" role="alert">
      <span>{message}</span>
      {onRetry && (
        <button type="button" onClick={onRetry}>
          Try again
        </button>
      )}
    </div>
  )
}

export function Loading({ what }: { readonly what: string }) {
  return (
    <p className="quiet loading" role="status">
      Reading {what}…
    </p>
  )
}
