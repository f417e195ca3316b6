import { MiniMap, type MiniMapNodeProps, type ReactFlowState, useStore } from '@xyflow/react'
import { memo } from 'react'
import { classOf } from '../../model/known.ts'
import type { Size } from '../../ui/area.ts'
import type { Box } from '../../ui/nested.ts'
import { useRow } from './tree-context.ts'

interface Props {
  readonly size: Size
}

/** A small picture of the whole graph, while a part of it is out of sight. */
export function GraphMap({ size }: Props) {
  const isPart = useStore(({ transform: [x, y, zoom], width, height }: ReactFlowState) => {
    const [right, bottom] = [x + size.width * zoom, y + size.height * zoom]
    return x < -SLACK || y < -SLACK || right > width + SLACK || bottom > height + SLACK
  })
  if (!isPart) return null
  return <MiniMap className="graph-map" pannable zoomable nodeComponent={MapNode} ariaLabel="Map of the graph" />
}
const SLACK = 2

const MapNode = memo(({ id, x, y, width, height }: MiniMapNodeProps & Partial<Box>) => {
  const row = useRow(id)
  const look = row ? ` is-${classOf(row.phase).toLowerCase()}` : ''
  return <rect className={`map-node${look}`} x={x} y={y} width={width} height={height} rx={6} />
})
MapNode.displayName = 'MapNode'
