import type { ObjectKind } from './vocabulary.ts'

/** Places where agents start new work, with labels and a capacity. */

export type Labels = Readonly<Record<string, string>>

/** A place as a claim finds it. */
export interface Place {
  /** Null: its agent has not registered it, so it has no labels and no limit. */
  readonly id: string | null
  readonly labels: Labels
  readonly isDrained: boolean
  /** Maximum number of each kind; null: no limit. */
  readonly capacity: number | null
  /** Number of running objects of each kind. */
  readonly running: Readonly<Partial<Record<ObjectKind, number>>>
}

export const UNREGISTERED: Place = { id: null, labels: {}, isDrained: false, capacity: null, running: {} }

/** New work, as far as its place goes. */
export interface Placed {
  readonly kind: ObjectKind
  /** The place that it is tied to; null: any with its labels. */
  readonly target: string | null
  readonly targetLabels: Labels | null
}

export const hasLabels = (labels: Labels, wanted: Labels | null): boolean =>
  Object.entries(wanted ?? {}).every(([key, value]) => labels[key] === value)

/** Number of objects of the kind that the place may still start. */
export const roomOf = ({ capacity, running }: Pick<Place, 'capacity' | 'running'>, kind: ObjectKind): number =>
  capacity === null ? Number.POSITIVE_INFINITY : Math.max(0, capacity - (running[kind] ?? 0))

export const isFull = (place: Pick<Place, 'capacity' | 'running'>, kind: ObjectKind): boolean =>
  roomOf(place, kind) === 0

/**
 * True if the place may start the work. Work that is tied to a place needs something that only this place has, so it
 * starts even if the place is drained. The statement that finds candidates applies the same rule.
 */
export function mayStart(place: Place, { kind, target, targetLabels }: Placed): boolean {
  if (isFull(place, kind)) return false
  return target !== null || (!place.isDrained && hasLabels(place.labels, targetLabels))
}

/** The place after it has started one more. */
export const withOneMore = (place: Place, kind: ObjectKind): Place => ({
  ...place,
  running: { ...place.running, [kind]: (place.running[kind] ?? 0) + 1 },
})
