import type { ReactNode } from 'react'
import type { Act } from '../data/act.ts'

interface EmptyProps {
  readonly title: string
  /** It stands for the whole page, whose heading it is. */
  readonly isPage?: boolean
  readonly children?: ReactNode
}
/** An empty list: says so, and what to do next. */
export function Empty({ title, isPage = false, children }: EmptyProps) {
  return (
    <div className="empty">
      {isPage ? <h1>{title}</h1> : <p>{title}</p>}
      {children && <div className="quiet">{children}</div>}
    </div>
  )
}

/** A read that failed. */
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

/** The outcome of an action. */
export function Outcome({ result }: { readonly result: Act | null }) {
  return (
    <p role="status" className={result?.ok === false ? 'problem' : 'quiet outcome'}>
      {result?.message}
    </p>
  )
}
