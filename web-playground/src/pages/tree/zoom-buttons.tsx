interface Props {
  readonly onIn: () => void
  readonly onOut: () => void
  readonly onFit: () => void
}

/** Next to the graph, not on it: they cover nothing. */
export function ZoomButtons({ onIn, onOut, onFit }: Props) {
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
    </div>
  )
}
