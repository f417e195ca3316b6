import { setTimeout as sleep } from 'node:timers/promises'
import { type Client, ClientError } from '../../client/index.ts'
import type { TreeNode } from '../tree/model.ts'
import { classOf } from './phases.ts'

/** `stopped`: it ended because somebody wanted it to, e.g. ABORTED, or is not connected. */
export type WatchOutcome = 'succeeded' | 'failed' | 'stopped' | 'gone' | 'interrupted'
export interface WatchResult {
  readonly outcome: WatchOutcome
  /** The phase it ended in; GONE when it exists no more. */
  readonly phase: string
  /** Why it is not as it was wanted. */
  readonly error: TreeNode['error']
}

/** Edge objects rest in these whatever became of what was asked: when it failed it is undone, and only the error is left. */
const RESTS = ['READY', 'OFFLINE']

/** How an object has ended that is finished. */
export function endOf({ phase, error }: Pick<TreeNode, 'phase' | 'error'>): WatchResult {
  return { outcome: outcomeOf(phase, error), phase, error }
}

function outcomeOf(phase: string, error: TreeNode['error']): WatchOutcome {
  if (error && RESTS.includes(phase)) return error.code === 'WITHDRAWN' ? 'stopped' : 'failed'
  if (phase === 'OFFLINE') return 'stopped'
  const phaseClass = classOf(phase)
  return phaseClass === 'failed' || phaseClass === 'stopped' ? phaseClass : 'succeeded'
}

interface LastChange {
  readonly name: string
  readonly to: string
  readonly reason: string | null
  readonly message: string | null
}
// A creation that is undone ends CREATE_ERROR, NOT_PRESENT, GONE.
const LAST_CHANGES = `query LastChanges($id: ID!) {
  phaseChanges(filter: { objectId: $id }, last: 3) { edges { node { name to reason message } } }
}`
/** The log is a little behind the objects. */
const LOOKS = 25
const LOOK_MS = 200

/** How an object has ended that exists no more; only the log knows. Without a name when that knows nothing either. */
export async function endOfGone(
  client: Client,
  id: string,
  signal: AbortSignal,
): Promise<WatchResult & { readonly name?: string }> {
  for (let look = 0; look < LOOKS; look += 1) {
    if (look > 0) await sleep(LOOK_MS, undefined, { signal })
    const changes = await readLast(client, id, signal)
    const last = changes.at(-1)
    if (last?.to === 'GONE') return { ...judgeGone(changes), name: last.name }
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
function judgeGone(changes: readonly LastChange[]): WatchResult {
  const before = changes.findLast(({ to }) => to !== 'GONE' && to !== 'NOT_PRESENT')
  if (before?.to !== 'CREATE_ERROR') return GONE
  const { to, reason, message } = before
  const outcome = reason === 'withdrawn' ? 'stopped' : 'failed'
  return { outcome, phase: 'GONE', error: { code: to, message: message ?? reason ?? 'There is no reason given.' } }
}
