import { forbidden, invalidInput, type RefusalOf, transitionRefused } from '../../../core/errors.ts'
import type { Viewer } from '../../../core/ports/viewer.ts'
import { isName, NAME_RULE } from '../../../core/problems.ts'
import { hasRight, requireRight, right } from '../../../core/rights.ts'
import type { Node } from '../../../core/tree.ts'
import { byKey, type Keyed } from '../../../store/idempotency.ts'
import { type CommandResult, type Fenced, ifUnchanged, onObject, refuse } from '../../access.ts'
import type { LockedTree } from '../../family.ts'
import { editorOf, grantsOfEditors } from '../../on-behalf.ts'
import { rights } from '../rights.ts'
import { type Approval, type ItemGate, installation } from '../rules/details.ts'
import { approve, decide, describeGate, mayApprove, waitingGate } from '../rules/gate.ts'
import type { CommandParts } from './parts.ts'

/** Decisions at gates. */

const WHAT = 'deploy item'
type Refused = 'NotFoundError' | 'InvalidInputError' | 'ForbiddenError' | 'TransitionError'
type Decided = CommandResult<Refused>
type DecisionResult = CommandResult<Refused | 'ConflictError'>

interface Decide extends Keyed, Fenced {
  readonly id: string
  readonly comment?: string | null
}
/** Approves a gate; once those who may still approve are as many as it takes, it opens. */
export const approveGate = (parts: CommandParts, viewer: Viewer, input: Decide): Promise<DecisionResult> =>
  atApproval(parts, viewer, input, 'approve', async (tree, item, gate) => {
    const { slice, root } = tree
    if (!mayApprove(viewer.principalId, gate, installation(root))) {
      const message = `${viewer.name} has written the spec, or asked for this job, so somebody else has to approve it.`
      return refuse(forbidden(message))
    }
    const earlier = gate.approvals.filter(({ by }) => by.principalId !== viewer.principalId)
    const counted = await stillCounted(tree, item, gate, earlier)
    const approval = { by: editorOf(viewer), at: slice.now.toISOString(), comment: input.comment || null }
    approve(item, slice, approval, counted)
    return written(tree, item)
  })

/** Ends a gate without success. */
export const rejectGate = (parts: CommandParts, viewer: Viewer, input: Decide): Promise<DecisionResult> =>
  atApproval(parts, viewer, input, 'reject', (tree, item) => {
    const message = `Rejected by ${viewer.name}${input.comment ? `: ${input.comment}` : '.'}`
    decide(item, tree.slice, { by: principalOf(viewer), message, exports: null })
    return written(tree, item)
  })

interface Signal extends Keyed {
  readonly id: string
  readonly name: string
  readonly payload?: unknown
}
/** Opens a gate that waits for the signal; the payload becomes its exports. */
export const signalGate = (parts: CommandParts, viewer: Viewer, input: Signal): Promise<Decided> => {
  const at = { right: rights.signal, id: input.id, what: WHAT, once: byKey('signal', input) }
  return onObject(parts, viewer, at, (tree, item) => {
    const gate = waitingGate(item)
    if (gate?.signal !== input.name) return refuse(notAwaited(item, `the signal ${input.name}`, gate))
    const exports = exportsOf(input.payload)
    if (!exports) {
      const message = `must be an object whose keys are names of exports: each ${NAME_RULE}`
      return refuse(invalidInput([{ path: 'input.payload', message }]))
    }
    decide(item, tree.slice, { by: principalOf(viewer), message: `Got the signal ${input.name}.`, exports })
    return written(tree, item)
  })
}

const principalOf = ({ principalId, name }: Viewer) => ({ principalId, name })

function atApproval(
  parts: CommandParts,
  viewer: Viewer,
  input: Decide,
  mutation: 'approve' | 'reject',
  write: (tree: LockedTree, item: Node, gate: ItemGate) => Promise<Decided> | Decided,
): Promise<DecisionResult> {
  const at = { right: rights.approve, id: input.id, what: WHAT, once: byKey(mutation, input) }
  return onObject(parts, viewer, at, (tree, item) =>
    ifUnchanged(tree, input, (): Promise<Decided> | Decided => {
      const gate = waitingGate(item)
      if (!gate?.approval) return refuse(notAwaited(item, 'an approval', gate))
      const refused = requireRight(viewer, rightAt(gate), item.row.projectId)
      return refused ? refuse(refused) : write(tree, item, gate)
    }),
  )
}

/** The right to decide at this gate. */
const rightAt = ({ approval }: ItemGate) =>
  approval?.role ? right('approve', 'DEPLOY_ITEM', [approval.role, 'ADMINISTRATOR']) : rights.approve

/** Rights that were taken away since do not count. */
async function stillCounted(
  { client }: LockedTree,
  { row: { projectId } }: Node,
  gate: ItemGate,
  approvals: readonly Approval[],
): Promise<readonly Approval[]> {
  if (approvals.length === 0) return []
  const grants = await grantsOfEditors(
    client,
    approvals.map(({ by }) => ({ editor: by, projectId })),
  )
  return approvals.filter(({ by }, i) =>
    hasRight({ name: by.name, actor: 'USER', grants: grants[i] ?? [] }, rightAt(gate), projectId),
  )
}

function exportsOf(payload: unknown): Readonly<Record<string, unknown>> | null {
  const value = payload ?? {}
  if (typeof value !== 'object' || Array.isArray(value)) return null
  return Object.keys(value).every(isName) ? (value as Readonly<Record<string, unknown>>) : null
}

function notAwaited({ row }: Node, what: string, gate: ItemGate | null): RefusalOf<'TransitionError'> {
  const refusal = transitionRefused(row.kind, row.phase, 'USER', 'SUCCEEDED', [])
  const instead = gate ? describeGate(gate) : `It is ${row.phase}.`
  return { ...refusal, message: `It does not wait for ${what}. ${instead}` }
}

function written(tree: LockedTree, { row: { id } }: Node): Decided {
  tree.wake([id])
  return { ok: true, objectId: id }
}
