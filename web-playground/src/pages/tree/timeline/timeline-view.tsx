import { useVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useMemo, useRef, useState } from 'react'
import type { HistoryStore } from '../../../data/history-store.ts'
import type { PastStore } from '../../../data/past-store.ts'
import type { TreeStore } from '../../../data/tree-store.ts'
import type { CriticalPath } from '../../../model/critical-path.ts'
import { END_PX, LENGTH_PX, wholeWindow } from '../../../model/time-window.ts'
import { type TimelineRow, timelineRows } from '../../../model/timeline-rows.ts'
import { lastSpan, runsOf } from '../../../model/timeline-runs.ts'
import type { TreePlace } from '../../../model/tree-place.ts'
import { useFineNow } from '../../../ui/now.ts'
import { ROW_PX } from '../../../ui/row-height.ts'
import { ticksOf } from '../../../ui/ticks.ts'
import { ZoomButtons } from '../zoom-buttons.tsx'
import { Axis, GridLines } from './axis.tsx'
import type { TipText } from './describe.ts'
import { LaneRow } from './lane.tsx'
import { type Shown, Tip } from './tip.tsx'
import { useCells } from './use-cells.ts'
import { useChartSize } from './use-chart-size.ts'
import { useDrag, useWheel, useWindow } from './use-window.ts'

const NEARER = 0.6

interface Props {
  readonly tree: TreeStore
  readonly history: HistoryStore
  readonly past: PastStore | null
  readonly place: TreePlace
  readonly path: CriticalPath
  readonly onSelect: (id: string) => void
}

/** Every object of the tree with its phases over time, deleted ones too. */
export function TimelineView({ tree, history, past, place, path, onSelect }: Props) {
  const box = useRef<HTMLDivElement>(null)
  const { left, width } = useChartSize(box)
  const rows = useRows(tree, history)
  const { now, whole, last } = useSpan(tree, history, width)
  const zoom = useWindow(whole)
  const [shown, setShown] = useState<Shown | null>(null)
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: () => ROW_PX,
    // The axis stays above the rows.
    scrollMargin: ROW_PX,
    scrollPaddingStart: ROW_PX,
    overscan: 8,
    getItemKey: (index) => rows[index]?.id ?? index,
  })
  const cells = useCells({ box, rows, zoom, scrollTo: virtual.scrollToIndex, onEscape: () => setShown(null) })
  useSelectedInSight(rows, place.object, virtual.scrollToIndex)
  useWheel({ box, left, width }, zoom)
  const drag = useDrag({ width }, zoom.pan)
  const tell = (text: TipText | null, element: Element): void => {
    const { left: x, bottom } = element.getBoundingClientRect()
    setShown(text && { text, left: x, bottom })
  }
  const ticks = useMemo(() => ticksOf(zoom.window, width), [zoom.window, width])
  const line = lineOf(history, place.at, zoom.window)
  return (
    <section className="view" aria-label="The tree as a timeline">
      <div
        className={`timeline${path.steps.size > 0 ? ' has-path' : ''}`}
        ref={box}
        role="treegrid"
        tabIndex={-1}
        aria-label="Objects and their phases"
        aria-rowcount={rows.length + 1}
        aria-readonly="true"
        onKeyDown={cells.onKeyDown}
        onScroll={() => setShown(null)}
        {...drag}
      >
        <Axis window={zoom.window} {...{ width, ticks }} />
        <div className="timeline-space" role="presentation" style={{ height: virtual.getTotalSize() }}>
          <GridLines window={zoom.window} {...{ width, ticks, left }} />
          {virtual.getVirtualItems().map(({ index, key, start }) => {
            const row = rows[index]
            if (!row) return null
            const live = tree.model.nodes.get(row.id)
            return (
              <LaneRow
                key={key}
                {...{ row, index, width, now, live, onSelect }}
                start={start - ROW_PX}
                lane={history.timeline.lanes.get(row.id)}
                phase={place.at === null ? live?.phase : past?.model.nodes.get(row.id)?.phase}
                window={zoom.window}
                isSelected={row.id === place.object}
                criticalMs={path.steps.get(row.id)}
                cell={cells.here.id === row.id ? cells.here.cell : null}
                onPlace={cells.onPlace}
                onTell={tell}
              />
            )
          })}
          {line !== null && <Moment part={line} left={left} width={width} />}
        </div>
      </div>
      <div className="view-foot">
        <ZoomButtons onIn={() => zoom.zoom(NEARER)} onOut={() => zoom.zoom(1 / NEARER)} onFit={zoom.fit}>
          {last && (
            <button type="button" onClick={() => zoom.choose(last)}>
              Last run
            </button>
          )}
        </ZoomButtons>
        <p className="quiet timeline-hint">Drag to move, Ctrl and the wheel to zoom; arrow keys, + and −.</p>
      </div>
      {shown && <Tip {...shown} />}
    </section>
  )
}

/** Scrolls once, since a link may lead to a row far below. */
function useSelectedInSight(rows: readonly TimelineRow[], id: string, scrollTo: (index: number) => void): void {
  const isDone = useRef(false)
  useEffect(() => {
    if (isDone.current) return
    const index = rows.findIndex((row) => row.id === id)
    if (index < 0) return
    isDone.current = true
    if (index > 0) scrollTo(index)
  }, [rows, id, scrollTo])
}

function useRows(tree: TreeStore, history: HistoryStore) {
  const { model } = tree
  const { timeline } = history
  const { structure } = model
  const known = history.structure
  // biome-ignore lint/correctness/useExhaustiveDependencies: the stores are the same objects; these say when there are other rows
  return useMemo(() => {
    const parentOf = (id: string): string | undefined => model.parentOf(id) ?? history.parentOf(id)
    return timelineRows(timeline, { rootId: model.rootId, nodes: model.nodes, parentOf })
  }, [model, timeline, structure, known])
}

/** A chart that is wide enough for durations beside the last ends. */
const ROOMY_PX = 500
/** Pixels by which phases that are too short to be seen push the last end. */
const SHORT_PX = 12

/** From the first change to the last; to the present while an object is unfinished. */
function useSpan({ model: { root } }: TreeStore, { timeline }: HistoryStore, width: number) {
  const runs = root !== undefined && !root.finished
  const fine = useFineNow(runs)
  const newest = Date.parse(timeline.last?.at ?? root?.phaseSince ?? '') || fine
  const first = Date.parse(timeline.changes[0]?.at ?? root?.createdAt ?? '') || newest
  // The server's clock may be ahead.
  const now = Math.max(fine, newest)
  const end = runs ? now : newest
  const free = END_PX + SHORT_PX + (width > ROOMY_PX ? LENGTH_PX : 0)
  const room = runs ? 0 : free / Math.max(free, width - free)
  const lane = timeline.lanes.get(timeline.rootId)
  const span = lane && runsOf(lane.kind, lane.segments).length > 1 ? lastSpan(lane) : undefined
  const last = span && Number.isFinite(span.from) ? wholeWindow(span.from, span.to ?? end, room) : null
  return { now, last, whole: useMemo(() => wholeWindow(first, end, room), [first, end, room]) }
}

function lineOf({ timeline }: HistoryStore, at: number | null, { from, to }: { from: number; to: number }) {
  const change = at === null ? undefined : timeline.changes[timeline.indexAt(at)]
  if (!change) return null
  const part = (Date.parse(change.at) - from) / (to - from)
  return part >= 0 && part <= 1 ? part : null
}

/** The shown moment; later pieces are dimmed. */
function Moment({ part, left, width }: { readonly part: number; readonly left: number; readonly width: number }) {
  return <div className="moment" style={{ left: left + part * width, width: (1 - part) * width }} />
}
