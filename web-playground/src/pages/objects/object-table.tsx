import { useVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useRef } from 'react'
import type { ListStore } from '../../data/list-store.ts'
import type { ObjectFilter, Order, OrderField } from '../../model/filter.ts'
import { type Selection, toggle } from '../../model/selection.ts'
import { rowHeight } from '../../ui/row-height.ts'
import { ObjectRow } from './object-row.tsx'
import { TickAll } from './tick-all.tsx'

interface Props {
  readonly list: ListStore
  readonly onChange: (filter: ObjectFilter) => void
  readonly selection: Selection
  readonly onSelect: (selection: Selection) => void
}
/** Rows before the end at which the next page is read. */
const AHEAD = 40

/** A table that draws only the visible rows and reads pages as the user scrolls. */
export function ObjectTable({ list, onChange, selection, onSelect }: Props) {
  const scroller = useRef<HTMLDivElement>(null)
  const { rows, complete, more, filter } = list
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: rowHeight,
    overscan: 10,
    getItemKey: (index) => rows[index]?.id ?? index,
  })
  const items = virtual.getVirtualItems()
  const last = items.at(-1)?.index ?? 0
  useEffect(() => {
    if (!complete && last + AHEAD >= rows.length) void more()
  }, [complete, last, rows.length, more])
  const pick = (id: string, range: boolean): void =>
    onSelect(
      toggle(
        selection,
        id,
        rows.map((row) => row.id),
        range,
      ),
    )

  return (
    // biome-ignore lint/a11y/useSemanticElements: a table's rows cannot be placed where a virtual list wants them
    <div className="grid" role="table" aria-label="Objects" aria-rowcount={complete ? rows.length + 1 : -1}>
      <Head filter={filter} onChange={onChange}>
        <TickAll rows={rows} complete={complete} selection={selection} onSelect={onSelect} />
      </Head>
      {/* biome-ignore lint/a11y/useSemanticElements: as above */}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard */}
      <div className="grid-body" role="rowgroup" ref={scroller} tabIndex={0}>
        <Spacer height={virtual.getTotalSize()}>
          {items.map(({ index, key, start }) => {
            const row = rows[index]
            return (
              row && (
                <ObjectRow
                  key={key}
                  row={row}
                  index={index}
                  start={start}
                  selected={selection.ids.has(row.id)}
                  onPick={pick}
                />
              )
            )
          })}
        </Spacer>
      </div>
    </div>
  )
}

function Spacer({ height, children }: { readonly height: number; readonly children: React.ReactNode }) {
  return (
    <div className="grid-space" style={{ height }} role="presentation">
      {children}
    </div>
  )
}

const COLUMNS: readonly { readonly label: string; readonly field: OrderField | null }[] = [
  { label: 'Name', field: 'NAME' },
  { label: 'Kind', field: null },
  { label: 'Phase', field: null },
  { label: 'Since', field: 'PHASE_SINCE' },
  { label: 'In', field: null },
  { label: 'Project', field: null },
  { label: 'Created', field: 'CREATED_AT' },
]

interface HeadProps {
  readonly filter: ObjectFilter
  readonly onChange: (filter: ObjectFilter) => void
  readonly children: React.ReactNode
}
function Head({ filter, onChange, children }: HeadProps) {
  const { order, roots } = filter
  return (
    // biome-ignore lint/a11y/useSemanticElements: as above
    // biome-ignore lint/a11y/useFocusableInteractive: its buttons are
    <div className="grid-row grid-head" role="row" aria-rowindex={1}>
      {/* biome-ignore lint/a11y/useSemanticElements: as above */}
      {/* biome-ignore lint/a11y/useFocusableInteractive: its checkbox is */}
      <div className="cell-pick" role="columnheader">
        {children}
      </div>
      {COLUMNS.map(({ label, field }) => (
        // biome-ignore lint/a11y/useSemanticElements: as above
        // biome-ignore lint/a11y/useFocusableInteractive: its button is
        <div key={label} role="columnheader" aria-sort={sortOf(order, field)}>
          {field && (roots || field !== 'PHASE_SINCE') ? (
            <button
              type="button"
              className="sort"
              onClick={() => onChange({ ...filter, order: nextOrder(order, field) })}
            >
              {label}{' '}
              <span aria-hidden="true">{order.field === field ? (order.direction === 'ASC' ? '↑' : '↓') : ''}</span>
            </button>
          ) : (
            label
          )}
        </div>
      ))}
    </div>
  )
}
const sortOf = (order: Order, field: OrderField | null): 'ascending' | 'descending' | undefined =>
  order.field !== field ? undefined : order.direction === 'ASC' ? 'ascending' : 'descending'

function nextOrder(order: Order, field: OrderField): Order {
  if (order.field !== field) return { field, direction: field === 'NAME' ? 'ASC' : 'DESC' }
  return { field, direction: order.direction === 'ASC' ? 'DESC' : 'ASC' }
}
