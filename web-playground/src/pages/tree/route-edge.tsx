import type { Edge, EdgeProps } from '@xyflow/react'
import { useIsCritical } from './tree-context.ts'

type RouteEdgeType = Edge<{ readonly path: string }, 'route'>

/** A line that the layout has led around all boxes. */
export const RouteEdge = ({ id, data, markerEnd }: EdgeProps<RouteEdgeType>) => (
  <path
    className={`react-flow__edge-path${useIsCritical(id) ? ' critical' : ''}`}
    d={data?.path}
    markerEnd={markerEnd}
    fill="none"
  />
)
