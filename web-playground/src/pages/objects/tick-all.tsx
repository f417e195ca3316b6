import { useEffect, useRef } from 'react'
import type { Row } from '../../model/object.ts'
import { NONE, type Selection, selectAll, ticked } from '../../model/selection.ts'

interface Props {
  readonly selection: Selection
  readonly onSelect: (selection: Selection) => void
  readonly rows: readonly Row[]
  readonly complete: boolean
}
/** Ticks all loaded rows; the bar that appears offers the others. */
export function TickAll({ rows, complete, selection, onSelect }: Props) {
  const now = ticked(selection, rows)
  const box = useRef<HTMLInputElement>(null)
  useEffect(() => {
    if (box.current) box.current.indeterminate = now === 'some'
  }, [now])
  return (
    <label className="pick-all">
      <input
        ref={box}
        type="checkbox"
        checked={now === 'all'}
        onChange={() => onSelect(now === 'all' ? NONE : selectAll(rows.map(({ id }) => id)))}
      />
      <span>Select {complete ? 'all' : `the ${rows.length} read`}</span>
    </label>
  )
}
