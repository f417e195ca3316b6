import type { ListedRow } from '../../model/object.ts'
import type { Column } from '../../model/object-columns.ts'
import type { Pair } from '../../model/pairs.ts'
import { Content } from './columns.tsx'

interface Props {
  readonly row: ListedRow
  readonly columns: readonly Column[]
  readonly index: number
  readonly start: number
  readonly selected: boolean
  /** Measures the row, which is higher where its path needs it. */
  readonly measure: (element: HTMLElement | null) => void
  readonly onPick: (id: string, range: boolean) => void
  readonly hrefOf: (label: Pair) => string
}
export function ObjectRow({ row, columns, index, start, selected, measure, onPick, hrefOf }: Props) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a table's rows cannot be placed where a virtual list wants them
    // biome-ignore lint/a11y/useFocusableInteractive: its link is
    <div
      ref={measure}
      className={selected ? 'grid-row picked' : 'grid-row'}
      role="row"
      aria-rowindex={index + 2}
      data-index={index}
      data-object={row.id}
      style={{ transform: `translateY(${start}px)` }}
    >
      <Cell className="cell-pick">
        <label>
          <input
            type="checkbox"
            aria-label={`Select ${row.path}`}
            checked={selected}
            // A change event does not have the shift key.
            onClick={({ shiftKey }) => onPick(row.id, shiftKey)}
            onChange={() => undefined}
          />
        </label>
      </Cell>
      {columns.map((column) => (
        <Cell key={column} className={`cell-${column}`}>
          <Content column={column} row={row} hrefOf={hrefOf} />
        </Cell>
      ))}
    </div>
  )
}

function Cell({ className, children }: { readonly className: string; readonly children: React.ReactNode }) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: as above
    <div className={className} role="cell">
      {children}
    </div>
  )
}
