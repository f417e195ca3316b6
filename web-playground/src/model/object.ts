import type { PhaseChange } from 'phaseline/client'
import type { Machines } from 'phaseline/client-model'
import type { Begun } from './last-run.ts'
import type { Pair } from './pairs.ts'

/** The fields of an object in lists and trees. Times are ISO 8601. */
export interface Row {
  readonly id: string
  readonly kind: string
  readonly name: string
  /** Its place among its siblings, in the order of the spec; left out where it is unknown, as of objects that are gone. */
  readonly ordinal?: number | undefined
  readonly phase: string
  readonly phaseSince: string
  readonly createdAt: string
  readonly finished: boolean
  readonly revision: number
  readonly project: { readonly name: string }
  readonly parent: { readonly id: string } | null
  readonly root: { readonly id: string; readonly name: string }
  readonly error: { readonly code: string; readonly message: string } | null
  readonly pendingRequests: readonly PendingRequest[]
  /** The pause of its tree; left out in rows of the past. */
  readonly pause?: { readonly at: string; readonly by: string; readonly reason: string | null } | null
}
/** In a list, where it is not inside its parent: with its place. */
export interface ListedRow extends Row {
  /** Names from the root down to the object, divided by `/`. */
  readonly path: string
  readonly labels: readonly Pair[]
  /** Left out where no column shows it. */
  readonly history?: Begun['history'] | undefined
  readonly runs?: Begun['runs']
}
export interface PendingRequest {
  readonly verb: string
  readonly mode: string | null
  readonly by: string | null
  readonly at: string | null
  readonly message: string
}

/** A record of a request that waits: it moves nothing, and the object is read again. */
export const isRequest = ({ revision, rejected }: PhaseChange): boolean => revision === 0 && !rejected

/** After a change of its phase, what the change does not have is read again: the error, and what is pending. */
export const isToRead = ({ finished, pendingRequests }: Row): boolean => finished || pendingRequests.length > 0

/** The row after a change; the same row when the change is known. The caller handles changes to GONE. */
export function patched<T extends Row>(row: T, change: PhaseChange, machines: Machines): T {
  if (!machines.moves(change)) return row
  if (change.revision <= row.revision) return row
  return {
    ...row,
    phase: change.to,
    phaseSince: change.at,
    revision: change.revision,
    finished: machines.isFinal(row.kind, change.to),
    // A change does not have the error: it is fetched.
    error: null,
  }
}

/** Siblings in the order of the spec; those without a known place are last, in the order of their creation. */
export const inOrder = (a: Pick<Row, 'id' | 'ordinal'>, b: Pick<Row, 'id' | 'ordinal'>): number =>
  (a.ordinal ?? LAST) - (b.ordinal ?? LAST) || (a.id < b.id ? -1 : 1)
const LAST = 2 ** 31
