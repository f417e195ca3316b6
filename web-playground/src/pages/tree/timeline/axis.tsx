import type { TimeWindow } from '../../../model/time-window.ts'
import { dateTime, shortDay } from '../../../ui/exact-time.ts'
import type { Tick } from '../../../ui/ticks.ts'

interface Props {
  readonly window: TimeWindow
  readonly width: number
  readonly ticks: readonly Tick[]
}

export function Axis({ window, width, ticks }: Props) {
  const { from, to } = window
  return (
    // biome-ignore lint/a11y/useSemanticElements: rows of a virtual list are no rows of a table
    // biome-ignore lint/a11y/useFocusableInteractive: there is nothing to be done with it
    <div className="lane lane-head" role="row" aria-rowindex={1}>
      {/* biome-ignore lint/a11y/useSemanticElements: as above */}
      {/* biome-ignore lint/a11y/useFocusableInteractive: as above */}
      <div className="lane-name" role="columnheader">
        Object
        {/* The times of a short window have no day. */}
        <span className="lane-day" aria-hidden="true">
          {shortDay(from)}
        </span>
      </div>
      {/* biome-ignore lint/a11y/useSemanticElements: as above */}
      {/* biome-ignore lint/a11y/useFocusableInteractive: as above */}
      <div
        className="lane-axis"
        role="columnheader"
        data-from={from}
        data-to={to}
        aria-label={`Time, from ${dateTime(from)} to ${dateTime(to)}`}
      >
        {ticks.map(({ at, text }) => (
          <span key={at} className="tick" style={{ left: ((at - from) / (to - from)) * width }} aria-hidden="true">
            {text}
          </span>
        ))}
      </div>
    </div>
  )
}

/** A line through all rows. */
export function GridLines({ window: { from, to }, width, ticks, left }: Props & { readonly left: number }) {
  return ticks.map(({ at }) => (
    <div key={at} className="gridline" style={{ left: left + ((at - from) / (to - from)) * width }} />
  ))
}
