import { transitionRefused } from '../core/errors.ts'
import type { Principal, Viewer } from '../core/ports/viewer.ts'
import { RIGHTS } from '../core/rights.ts'
import type { Node } from '../core/tree.ts'
import { byKey, type Keyed } from '../store/idempotency.ts'
import { type CommandAccess, type CommandResult, type Fenced, ifUnchanged, onObject, refuse } from './access.ts'
import { command } from './command.ts'
import type { LoadedFamily } from './define-family.ts'
import type { BackoffDecision, Family, LockedTree } from './family.ts'

/** Decisions of users about work of any kind that waits for its next attempt. */

export interface ResolveBackoff extends Keyed, Fenced {
  readonly id: string
}
interface Parts extends CommandAccess {
  readonly families: readonly Pick<LoadedFamily, 'kinds' | 'rules'>[]
}
type Resolved = CommandResult<
  'InvalidInputError' | 'NotFoundError' | 'ConflictError' | 'TransitionError' | 'ForbiddenError'
>

const resolve =
  (mutation: string, decision: BackoffDecision) =>
  (parts: Parts, viewer: Viewer, input: ResolveBackoff): Promise<Resolved> => {
    const at = { right: RIGHTS.retry, id: input.id, what: 'object', kind: null, once: byKey(mutation, input) }
    return onObject(parts, viewer, at, (tree, node) => {
      const rules = parts.families.find(({ kinds }) => kinds[node.row.kind])?.rules
      return ifUnchanged(tree, input, () => decide(tree, node, rules, viewer, decision))
    })
  }

function decide(
  tree: LockedTree,
  node: Node,
  rules: Family | undefined,
  by: Principal,
  decision: BackoffDecision,
): CommandResult<'TransitionError'> {
  const { id, kind, phase, parentId } = node.row
  if (rules?.resolveBackoff?.(node, decision, by, tree.slice) !== true) {
    const refusal = transitionRefused(kind, phase, 'USER', phase, [])
    return refuse({ ...refusal, message: `It does not wait for a next attempt: it is ${phase}.` })
  }
  // The parent may have waited for its end.
  tree.wake(parentId === null ? [id] : [parentId, id])
  return { ok: true, objectId: id }
}

const REFUSALS = ['NotFoundError', 'ConflictError', 'TransitionError'] as const
export const backoffCommands = {
  retryNow: command(resolve('retryNow', 'NOW'), REFUSALS),
  giveUpRetries: command(resolve('giveUpRetries', 'GIVE_UP'), REFUSALS),
}
