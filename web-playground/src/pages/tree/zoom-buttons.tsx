import type { ReactNode } from 'react'

interface Props {
  /** Further buttons. */
  readonly children?: ReactNode
  readonly onIn: () => void
  readonly onOut: () => void
  readonly onFit: () => void
}

/** Next to the graph, not on it: they cover nothing. */
export function ZoomButtons({ onIn, onOut, onFit, children }: Props) {
  return (
    <div className="zoom">
      <button type="button" aria-label="Zoom in" title="Zoom in" onClick={onIn}>
        <span aria-hidden="true">+</span>
      </button>
      <button type="button" aria-label="Zoom out" title="Zoom out" onClick={onOut}>
        <span aria-hidden="true">−</span>
      </button>
      <button type="button" onClick={onFit}>
        Fit
      </button>
      {children}
    </div>
  )
}
