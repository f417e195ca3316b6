import type { Edge, EdgeProps } from '@xyflow/react'

type RouteEdgeType = Edge<{ readonly path: string }, 'route'>

/** A line that the layout has led around all boxes. */
export const RouteEdge = ({ data, markerEnd }: EdgeProps<RouteEdgeType>) => (
  <path className="react-flow__edge-path" d={data?.path} markerEnd={markerEnd} fill="none" />
)
