import type { ObjectKind } from '../../../core/vocabulary.ts'

/** Objects of one operation. */
export const MAX_TARGETS = 100_000
export const MAX_RATE = 1_000

/**
 * Outcomes of the targets of a bulk operation. WAITING ones are still to be asked; all others are final.
 */
export const BULK_OUTCOMES = ['WAITING', 'DONE', 'UNCHANGED', 'REFUSED', 'FORBIDDEN', 'GONE', 'CANCELLED'] as const
export type BulkOutcome = (typeof BULK_OUTCOMES)[number]

/** The request; its targets are rows beside it. */
export interface BulkSpec {
  readonly verb: string
  /** Names of flags of the verb that are set. */
  readonly flags?: readonly string[]
  /** Kinds of its objects; null: it names them by id. */
  readonly kinds: readonly ObjectKind[] | null
  /** The filter as it was sent; null: it names its objects by id. */
  readonly filter: Readonly<Record<string, unknown>> | null
  readonly note: string | null
  /** Objects that are asked within a second at most; null: as many as can be. */
  readonly ratePerSecond: number | null
}

export type BulkCounts = Readonly<Record<BulkOutcome, number>>
export const NO_COUNTS: BulkCounts = {
  ...{ WAITING: 0, DONE: 0, UNCHANGED: 0, REFUSED: 0, FORBIDDEN: 0, GONE: 0, CANCELLED: 0 },
}

/** The end of an operation whose targets are all decided; null: it has none that was refused. */
export function failureOf({ REFUSED, FORBIDDEN }: BulkCounts): string | null {
  const parts = [
    ...(REFUSED > 0 ? [`${REFUSED} refused`] : []),
    ...(FORBIDDEN > 0 ? [`${FORBIDDEN} forbidden to its author`] : []),
  ]
  return parts.length === 0 ? null : `${parts.join(', ')} of its targets: the outcome of each says why.`
}
