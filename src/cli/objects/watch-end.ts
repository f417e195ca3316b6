import { setTimeout as sleep } from 'node:timers/promises'
import { ClientError } from '../../client/client-error.ts'
import type { Client } from '../../client/index.ts'
import type { Machines } from '../../client-model/index.ts'
import { gql } from '../../documents/gql.ts'
import type { NodeOf, ResultOf } from '../../documents/typed-document.ts'
import type { TreeNode } from '../tree/model.ts'
import type { Decision } from '../tree/undecided.ts'

/**
 * `stopped`: a request ended the object, e.g. ABORTED, or it is not connected. `undecided`: it is not finished, and only a
 * person can end what it waits for.
 */
export type WatchOutcome = 'undecided' | 'succeeded' | 'failed' | 'stopped' | 'gone' | 'interrupted'
export interface WatchResult {
  readonly outcome: WatchOutcome
  /** Its last phase; GONE when it no longer exists. */
  readonly phase: string
  /** Why the object failed. */
  readonly error: TreeNode['error']
  /** The decisions that a person must make; only where the outcome is `undecided`. */
  readonly decisions?: readonly Decision[]
}

/** The result of a finished object. */
export function endOf(object: Pick<TreeNode, 'kind' | 'phase' | 'error'>, machines: Machines): WatchResult {
  const { phase, error } = object
  return { outcome: outcomeOf(object, machines), phase, error }
}

function outcomeOf(
  { kind, phase, error }: Pick<TreeNode, 'kind' | 'phase' | 'error'>,
  machines: Machines,
): WatchOutcome {
  // A kind without a failed phase undoes its failures: only the error shows them.
  if (error && !machines.endsInFailure(kind)) return error.code === 'WITHDRAWN' ? 'stopped' : 'failed'
  const phaseClass = machines.classOf(phase)
  if (phaseClass === 'FAILED') return 'failed'
  return phaseClass === 'STOPPED' || phaseClass === 'WAITING' ? 'stopped' : 'succeeded'
}

// An undone creation ends in the error, the initial phase, and GONE.
const LAST_CHANGES = gql(`query LastChanges($id: ID!) {
  phaseChanges(filter: { objectId: $id }, last: 3) { edges { node { kind name to reason message } } }
}`)
type LastChange = NodeOf<ResultOf<typeof LAST_CHANGES>['phaseChanges']>
/** The log may lag behind the objects. */
const LOOKS = 25
const LOOK_MS = 200

/** The result of an object that no longer exists, from the log; without a name when the log has no change of it. */
export async function endOfGone(
  client: Client,
  { id, machines, signal }: { readonly id: string; readonly machines: Machines; readonly signal: AbortSignal },
): Promise<WatchResult & { readonly name?: string }> {
  for (let look = 0; look < LOOKS; look += 1) {
    if (look > 0) await sleep(LOOK_MS, undefined, { signal })
    const changes = await readLast(client, id, signal)
    const last = changes.at(-1)
    if (last?.to === 'GONE') return { ...judgeGone(changes, machines), name: last.name }
  }
  return GONE
}

const GONE: WatchResult = { outcome: 'gone', phase: 'GONE', error: null }

async function readLast(client: Client, id: string, signal: AbortSignal): Promise<readonly LastChange[]> {
  try {
    const { phaseChanges } = await client.query(LAST_CHANGES, { id }, { signal })
    return phaseChanges?.edges.map(({ node }) => node) ?? []
  } catch (error) {
    if (error instanceof ClientError && error.kind === 'network') return []
    throw error
  }
}

/** An object whose creation failed is gone without a request to delete it. */
function judgeGone(changes: readonly LastChange[], machines: Machines): WatchResult {
  const [before, undone] = changes.slice(-3)
  const isUndone = undone !== undefined && undone.to === machines.of(undone.kind)?.initial
  if (!before || !isUndone || machines.classOf(before.to) !== 'FAILED') return GONE
  const { to, reason, message } = before
  const outcome = reason === 'withdrawn' ? 'stopped' : 'failed'
  return { outcome, phase: 'GONE', error: { code: to, message: message ?? reason ?? 'There is no reason given.' } }
}
