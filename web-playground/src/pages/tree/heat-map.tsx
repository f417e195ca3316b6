import { NodeToolbar, Position } from '@xyflow/react'
import { CLASS_LABELS, type ClassCounts, PHASE_CLASSES } from 'phaseline/client-model'
import { type KeyboardEvent, type PointerEvent, useLayoutEffect, useMemo, useRef, useState } from 'react'
import { pathIn } from '../../model/drawn-tree.ts'
import { cellAt, cellByKey, cornerOf, heatCells, membersOf, SMALLEST_CELL, worstRanks } from '../../model/heat-map.ts'
import { classOf } from '../../model/known.ts'
import { plural } from '../../model/words.ts'
import type { Size } from '../../ui/area.ts'
import { Phase } from '../../ui/phase.tsx'
import { useShownTheme } from '../../ui/shown-theme.ts'
import { type Heat, paint } from './paint-heat.ts'
import { type ShownTree, useTreeView, useVersion } from './tree-context.ts'
import { useZoomLevel } from './zoom-level.tsx'

export interface HeatMapProps {
  /** In the order of the spec. */
  readonly ids: readonly string[]
  readonly room: Size
  readonly counts: ClassCounts
  /** The name of what contains them. */
  readonly name: string
  readonly isStop: boolean
}
/** The smallest cells, in pixels of the screen. */
const LEAST_ON_SCREEN = 2.5

/** A cell for each object that is not drawn, in the colour of its phase. One of them is marked, by the pointer or by the arrow keys. */
export function HeatMap({ ids, room, counts, name, isStop }: HeatMapProps) {
  const { tree, onSelect, onAwait } = useTreeView()
  const version = useVersion(tree)
  const theme = useShownTheme()
  const zoom = useZoomLevel()
  const canvas = useRef<HTMLCanvasElement>(null)
  const painted = useRef<Heat | null>(null)
  const [at, setAt] = useState(0)
  const [isMarked, setMarked] = useState(false)
  const least = Math.max(SMALLEST_CELL, Math.ceil(LEAST_ON_SCREEN / zoom))
  const cells = useMemo(() => heatCells(ids.length, room, least), [ids, room, least])
  // biome-ignore lint/correctness/useExhaustiveDependencies: `version` says when rows have changed
  const ranks = useMemo(() => worstRanks(cells, (member) => rankOf(tree, ids[member])), [cells, ids, tree, version])
  useLayoutEffect(() => {
    const heat = { cells, ranks, theme, scale: devicePixelRatio * zoom }
    if (canvas.current) paint(canvas.current, room, heat, painted.current)
    painted.current = heat
  }, [cells, ranks, theme, zoom, room])
  const cell = Math.min(at, cells.count - 1)
  const [from, to] = membersOf(cells, cell)
  const members = ids.slice(from, to)
  const shown = members.find((id) => rankOf(tree, id) === ranks[cell])
  const row = tree.model.nodes.get(shown ?? '')
  const path = row ? pathIn(tree.model, row.id) : ''
  const others = members.length > 1 ? `the worst of ${plural(members.length, 'object')}` : ''
  const onPointerMove = ({ clientX, clientY, currentTarget }: PointerEvent<HTMLElement>): void => {
    const { left, top, width } = currentTarget.getBoundingClientRect()
    const scale = room.width / width
    const found = cellAt(cells, (clientX - left) * scale, (clientY - top) * scale)
    if (found !== undefined) setAt(found)
    setMarked(found !== undefined)
  }
  const select = (): void => {
    if (!row) return
    // Its box opens, and this map with its focus is gone.
    onAwait(row.id)
    onSelect(row.id)
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    const next = cellByKey(cells, cell, event.key)
    if (next !== undefined) setAt(next)
    else if (event.key === 'Enter' || event.key === ' ') select()
    else return
    setMarked(true)
    event.preventDefault()
  }
  const { x, y } = cornerOf(cells, cell)
  return (
    <>
      <div
        className="heat"
        style={room}
        role="slider"
        aria-label={`Objects in ${name}: ${said(counts)}`}
        aria-valuemin={1}
        aria-valuemax={cells.count}
        aria-valuenow={cell + 1}
        aria-valuetext={[path, row?.phase, others].filter(Boolean).join(', ')}
        tabIndex={isStop ? 0 : -1}
        onPointerMove={onPointerMove}
        onPointerLeave={() => setMarked(false)}
        onFocus={() => setMarked(true)}
        onBlur={() => setMarked(false)}
        onKeyDown={onKeyDown}
        onClick={(event) => {
          event.stopPropagation()
          if (isMarked) select()
        }}
      >
        <canvas ref={canvas} />
        {isMarked && (
          <span className="heat-mark" style={{ left: x, top: y, width: cells.pitch, height: cells.pitch }} />
        )}
      </div>
      {row && (
        <NodeToolbar className="heat-tip" isVisible={isMarked} position={Position.Top} offset={4} aria-hidden="true">
          {path} <Phase phase={row.phase} /> {others}
        </NodeToolbar>
      )}
    </>
  )
}

const RANKS: ReadonlyMap<string, number> = new Map(PHASE_CLASSES.map((one, rank) => [one, rank]))
/** Without a row it has no colour. */
function rankOf({ model }: ShownTree, id: string | undefined): number {
  const row = model.nodes.get(id ?? '')
  return (row && RANKS.get(classOf(row.phase))) ?? PHASE_CLASSES.length
}

const said = (counts: ClassCounts): string =>
  PHASE_CLASSES.filter((one) => counts[one] > 0)
    .map((one) => `${counts[one].toLocaleString('en')} ${CLASS_LABELS[one]}`)
    .join(', ')
