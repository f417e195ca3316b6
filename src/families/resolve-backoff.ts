import { notFound, transitionRefused } from '../core/errors.ts'
import type { Principal, Viewer } from '../core/ports/viewer.ts'
import { RIGHTS } from '../core/rights.ts'
import type { Client } from '../store/client.ts'
import { type CommandResult, findFor, onceInTree, refuse } from './access.ts'
import { command } from './command.ts'
import type { LoadedFamily } from './define-family.ts'
import type { BackoffDecision, Family, LockedTree, Trees } from './family.ts'

/** Decisions of users about work of any kind that waits for its next attempt. */

export interface ResolveBackoff {
  readonly id: string
  readonly idempotencyKey?: string | null
}
interface Parts {
  readonly trees: Trees
  /** For finding the tree of the object before locking it. */
  readonly pool: Client
  readonly families: readonly Pick<LoadedFamily, 'kinds' | 'rules'>[]
}
type Resolved = CommandResult<'InvalidInputError' | 'NotFoundError' | 'TransitionError' | 'ForbiddenError'>

const resolve =
  (mutation: string, decision: BackoffDecision) =>
  async ({ trees, pool, families }: Parts, viewer: Viewer, input: ResolveBackoff): Promise<Resolved> => {
    const { id } = input
    const located = await findFor(pool, viewer, RIGHTS.retry, { id, what: 'object', kind: null })
    if (!located.ok) return located
    const { kind, rootId } = located.found
    const rules = families.find(({ kinds }) => kinds[kind])?.rules
    const done = await onceInTree(trees, viewer, rootId, { mutation, input }, (tree) =>
      decide(tree, rules, viewer, { id, decision }),
    )
    return done ?? refuse(notFound(id))
  }

async function decide(
  tree: LockedTree,
  rules: Family | undefined,
  by: Principal,
  { id, decision }: { readonly id: string; readonly decision: BackoffDecision },
): Promise<CommandResult<'NotFoundError' | 'TransitionError'>> {
  await tree.load([id])
  const { slice } = tree
  const node = slice.get(id)
  if (!node) return refuse(notFound(id))
  const { kind, phase, parentId } = node.row
  if (rules?.resolveBackoff?.(node, decision, by, slice) !== true) {
    const refusal = transitionRefused(kind, phase, 'USER', phase, [])
    return refuse({ ...refusal, message: `It does not wait for a next attempt: it is ${phase}.` })
  }
  // The parent may have waited for its end.
  tree.wake(parentId === null ? [id] : [parentId, id])
  return { ok: true, objectId: id }
}

const REFUSALS = ['NotFoundError', 'TransitionError'] as const
export const backoffCommands = {
  retryNow: command(resolve('retryNow', 'NOW'), REFUSALS),
  giveUpRetries: command(resolve('giveUpRetries', 'GIVE_UP'), REFUSALS),
}
