import type { Point } from './layered.ts'

export interface Size {
  readonly width: number
  readonly height: number
}
export interface Sized extends Size {
  readonly id: string
}
/** Placed nodes, from the upper left corner of all. */
export interface Area extends Size {
  readonly places: ReadonlyMap<string, Point>
  /** The corners of lines that go around all nodes, from the right of one to the left of another. */
  readonly routes: ReadonlyMap<string, readonly Point[]>
}
/** Between two nodes of the same container; together they have no cycle. */
export interface NestedEdge {
  readonly id: string
  readonly from: string
  readonly to: string
}

/** Between two nodes. */
export const GAP = 10

/** The height of a view of this aspect that has room for it. */
export const needOf = ({ width, height }: Size, aspect: number): number => Math.max(width / aspect, height)

/** The one that is drawn largest in a view of this aspect; of equal ones the first. */
export const bestOf = <A extends Size>(areas: readonly [A, ...A[]], aspect: number): A =>
  areas.reduce((best, area) => (needOf(area, aspect) < needOf(best, aspect) - 0.5 ? area : best))

export const shifted = (points: readonly Point[], { x, y }: Point): readonly Point[] =>
  points.map((point) => ({ x: x + point.x, y: y + point.y }))
