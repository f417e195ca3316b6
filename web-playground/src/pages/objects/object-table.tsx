import { useVirtualizer } from '@tanstack/react-virtual'
import { type CSSProperties, useEffect, useMemo, useRef } from 'react'
import type { ListStore } from '../../data/list-store.ts'
import type { ObjectFilter, Order, OrderField } from '../../model/filter.ts'
import { type Pair, withPair } from '../../model/pairs.ts'
import { type Selection, toggle } from '../../model/selection.ts'
import { objectsHref } from '../../ui/links.ts'
import { rowHeight } from '../../ui/row-height.ts'
import { LABELS, ORDERED, tracksOf } from './columns.tsx'
import { ObjectRow } from './object-row.tsx'
import { TickAll } from './tick-all.tsx'

interface Props {
  readonly list: ListStore
  readonly filter: ObjectFilter
  readonly onChange: (filter: ObjectFilter) => void
  readonly selection: Selection
  readonly onSelect: (selection: Selection) => void
}
/** Rows before the end at which the next page is read. */
const AHEAD = 40

/** A table that draws only the visible rows and reads pages as the user scrolls. */
export function ObjectTable({ list, filter, onChange, selection, onSelect }: Props) {
  const scroller = useRef<HTMLDivElement>(null)
  const { rows, complete, more } = list
  const { columns } = filter
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
  const hrefOf = (label: Pair): string => objectsHref({ ...filter, labels: withPair(filter.labels, label) })
  const tracks = useMemo(() => tracksOf(columns, rows) as CSSProperties, [columns, rows])

  return (
    // biome-ignore lint/a11y/useSemanticElements: a table's rows cannot be placed where a virtual list wants them
    <div
      className="grid"
      style={tracks}
      role="table"
      aria-label="Objects"
      aria-rowcount={complete ? rows.length + 1 : -1}
    >
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
                  columns={columns}
                  index={index}
                  start={start}
                  selected={selection.ids.has(row.id)}
                  measure={virtual.measureElement}
                  onPick={pick}
                  hrefOf={hrefOf}
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

interface HeadProps {
  readonly filter: ObjectFilter
  readonly onChange: (filter: ObjectFilter) => void
  readonly children: React.ReactNode
}
function Head({ filter, onChange, children }: HeadProps) {
  const { columns, order, roots } = filter
  return (
    // biome-ignore lint/a11y/useSemanticElements: as above
    // biome-ignore lint/a11y/useFocusableInteractive: its buttons are
    <div className="grid-row grid-head" role="row" aria-rowindex={1}>
      {/* biome-ignore lint/a11y/useSemanticElements: as above */}
      {/* biome-ignore lint/a11y/useFocusableInteractive: its checkbox is */}
      <div className="cell-pick" role="columnheader">
        {children}
      </div>
      {columns.map((column) => {
        const field = ORDERED[column]
        return (
          // biome-ignore lint/a11y/useSemanticElements: as above
          // biome-ignore lint/a11y/useFocusableInteractive: its button is
          <div key={column} role="columnheader" aria-sort={sortOf(order, field)}>
            {field && (roots || field !== 'PHASE_SINCE') ? (
              <button
                type="button"
                className="sort"
                title={field === 'NAME' ? 'Sort by the name, the last part of the path' : undefined}
                onClick={() => onChange({ ...filter, order: nextOrder(order, field) })}
              >
                {LABELS[column]}{' '}
                <span aria-hidden="true">{order.field === field ? (order.direction === 'ASC' ? '↑' : '↓') : ''}</span>
              </button>
            ) : (
              LABELS[column]
            )}
          </div>
        )
      })}
    </div>
  )
}
const sortOf = (order: Order, field: OrderField | undefined): 'ascending' | 'descending' | undefined =>
  order.field !== field ? undefined : order.direction === 'ASC' ? 'ascending' : 'descending'

function nextOrder(order: Order, field: OrderField): Order {
  if (order.field !== field) return { field, direction: field === 'NAME' ? 'ASC' : 'DESC' }
  return { field, direction: order.direction === 'ASC' ? 'DESC' : 'ASC' }
}
