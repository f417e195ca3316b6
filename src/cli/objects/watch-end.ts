import { setTimeout as sleep } from 'node:timers/promises'
import { type Client, ClientError } from '../../client/index.ts'
import type { TreeNode } from '../tree/model.ts'
import type { Machines } from './machines.ts'

/** `stopped`: it ended because somebody wanted it to, e.g. ABORTED, or is not connected. */
export type WatchOutcome = 'succeeded' | 'failed' | 'stopped' | 'gone' | 'interrupted'
export interface WatchResult {
  readonly outcome: WatchOutcome
  /** The phase it ended in; GONE when it exists no more. */
  readonly phase: string
  /** Why it is not as it was wanted. */
  readonly error: TreeNode['error']
}

/** How an object has ended that is finished. */
export function endOf(object: Pick<TreeNode, 'kind' | 'phase' | 'error'>, machines: Machines): WatchResult {
  const { phase, error } = object
  return { outcome: outcomeOf(object, machines), phase, error }
}

function outcomeOf(
  { kind, phase, error }: Pick<TreeNode, 'kind' | 'phase' | 'error'>,
  machines: Machines,
): WatchOutcome {
  // Without a phase for it, what has failed is undone, and only the error is left.
  if (error && !machines.endsInFailure(kind)) return error.code === 'WITHDRAWN' ? 'stopped' : 'failed'
  const phaseClass = machines.classOf(phase)
  if (phaseClass === 'FAILED') return 'failed'
  return phaseClass === 'STOPPED' || phaseClass === 'WAITING' ? 'stopped' : 'succeeded'
}

interface LastChange {
  readonly kind: string
  readonly name: string
  readonly to: string
  readonly reason: string | null
  readonly message: string | null
}
// A creation that is undone ends in the error, the initial phase, and GONE.
const LAST_CHANGES = `query LastChanges($id: ID!) {
  phaseChanges(filter: { objectId: $id }, last: 3) { edges { node { kind name to reason message } } }
}`
/** The log is a little behind the objects. */
const LOOKS = 25
const LOOK_MS = 200

/** How an object has ended that exists no more; only the log knows. Without a name when that knows nothing either. */
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
    const { phaseChanges } = await client.query<{
      phaseChanges: { readonly edges: readonly { readonly node: LastChange }[] } | null
    }>(LAST_CHANGES, { id }, { signal })
    return phaseChanges?.edges.map(({ node }) => node) ?? []
  } catch (error) {
    if (error instanceof ClientError && error.kind === 'network') return []
    throw error
  }
}

/** What went because its creation had failed was not to go. */
function judgeGone(changes: readonly LastChange[], machines: Machines): WatchResult {
  const [before, undone] = changes.slice(-3)
  const isUndone = undone !== undefined && undone.to === machines.of(undone.kind)?.initial
  if (!before || !isUndone || machines.classOf(before.to) !== 'FAILED') return GONE
  const { to, reason, message } = before
  const outcome = reason === 'withdrawn' ? 'stopped' : 'failed'
  return { outcome, phase: 'GONE', error: { code: to, message: message ?? reason ?? 'There is no reason given.' } }
}
