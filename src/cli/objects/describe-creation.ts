import { since } from '../terminal/text.ts'

/** The change that created a tree. */
export interface Creation {
  readonly at: string
  readonly actor: string
  readonly by: string | null
}
export const CREATION = 'creation { at actor by }'

/** e.g. `created 10m 04s ago by USER ann (2026-11-29T14:05:00.000Z)`. */
export const describeCreation = ({ at, actor, by }: Creation): string =>
  `created ${since(at)} ago by ${by === null ? actor : `${actor} ${by}`} (${at})`
