import { forbidden, invalidInput, type RefusalOf, transitionRefused } from '../core/errors.ts'
import type { Viewer } from '../core/ports/viewer.ts'
import { isName, NAME_RULE } from '../core/problems.ts'
import { hasRight, RIGHTS, requireRight, right } from '../core/rights.ts'
import type { Node } from '../core/tree.ts'
import { requireJudged, type Sandbox, type Validation } from '../sandbox/index.ts'
import { spendGatePoll } from '../store/gate-polls.ts'
import { byKey, type Keyed } from '../store/idempotency.ts'
import { type CommandAccess, type CommandResult, type Fenced, ifUnchanged, onObject, refuse } from './access.ts'
import { command } from './command.ts'
import type { LoadedFamily } from './define-family.ts'
import type { LockedTree } from './family.ts'
import { type Approval, type Decision, describeGate, type Gate, type Gates, mayApprove, withApproval } from './gate.ts'
import { editorOf, grantsOfEditors } from './on-behalf.ts'

/** Decisions at gates of objects of any kind. They are noted, and the engine acts on them, since it starts what waits behind. */

interface Parts extends CommandAccess {
  readonly families: readonly Pick<LoadedFamily, 'kinds' | 'rules'>[]
  readonly sandbox: Pick<Sandbox, 'validate'>
}
type Refused = 'NotFoundError' | 'InvalidInputError' | 'ForbiddenError' | 'TransitionError'
type Decided = CommandResult<Refused>
type DecisionResult = CommandResult<Refused | 'ConflictError'>

/** An object with the gate at which it waits, and how its family keeps that; null: it waits at none. */
interface AtGate {
  readonly tree: LockedTree
  readonly node: Node
  readonly gate: Gate
  readonly gates: Gates
}
function gateOf({ families }: Pick<Parts, 'families'>, tree: LockedTree, node: Node): AtGate | null {
  const gates = families.find(({ kinds }) => kinds[node.row.kind])?.rules.gates
  const gate = gates?.waiting(node)
  return gates && gate ? { tree, node, gate, gates } : null
}

interface Decide extends Keyed, Fenced {
  readonly id: string
  readonly comment?: string | null
}
/** Approves a gate; once those who may still approve are as many as it takes, it opens. */
const approve = (parts: Parts, viewer: Viewer, input: Decide): Promise<DecisionResult> =>
  atApproval(parts, viewer, input, 'approve', async (at) => {
    const { tree, node, gate, gates } = at
    const { slice } = tree
    if (!mayApprove(viewer.principalId, gate, gates.authors(node, slice))) {
      const message = `${viewer.name} has written the spec, or asked for this job, so somebody else has to approve it.`
      return refuse(forbidden(message))
    }
    const earlier = gate.approvals.filter(({ by }) => by.principalId !== viewer.principalId)
    const counted = await stillCounted(at, earlier)
    const approval = { by: editorOf(viewer), at: slice.now.toISOString(), comment: input.comment || null }
    const approved = withApproval(gate, approval, counted)
    const { message } = approved
    if (message !== null) slice.recordRequest(node, { by: viewer, reason: 'approved', message })
    return written(at, approved.gate)
  })

/** Ends a gate without success. */
const reject = (parts: Parts, viewer: Viewer, input: Decide): Promise<DecisionResult> =>
  atApproval(parts, viewer, input, 'reject', (at) => {
    const message = `Rejected by ${viewer.name}${input.comment ? `: ${input.comment}` : '.'}`
    return decided(at, { by: principalOf(viewer), message, exports: null })
  })

const LOST: Validation = { ok: false, message: 'could not be judged' }

interface Signal extends Keyed {
  readonly id: string
  readonly name: string
  readonly payload?: unknown
}
/** Opens a gate that waits for the signal; the payload becomes its exports. */
const signal = async (parts: Parts, viewer: Viewer, input: Signal): Promise<Decided> => {
  const access = { right: RIGHTS.signal, id: input.id, what: WHAT, kind: null, once: byKey('signal', input) }
  const exports = exportsOf(input.payload)
  const wrong = (message: string) => refuse(invalidInput([{ path: 'input.payload', message }]))
  /** By schema. Another process judges, which no transaction waits for. */
  const verdicts = new Map<string, Validation>()
  for (;;) {
    const unjudged: { readonly schema: object; readonly projectId: string }[] = []
    const done = await onObject(parts, viewer, access, (tree, node) => {
      const at = gateOf(parts, tree, node)
      if (at?.gate.signal !== input.name) return refuse(notAwaited(node, `the signal ${input.name}`, at))
      if (!exports) return wrong(`must be an object whose keys are names of exports: each ${NAME_RULE}`)
      const { schema } = at.gate
      const verdict = schema && verdicts.get(JSON.stringify(schema))
      if (schema && !verdict) unjudged.push({ schema, projectId: node.row.projectId })
      if (schema && !verdict?.ok) return wrong(verdict?.message ?? 'is not judged yet')
      return decided(at, { by: principalOf(viewer), message: `Got the signal ${input.name}.`, exports })
    })
    const [next] = unjudged
    if (!next) return done
    const { schema, projectId } = next
    const judged = await parts.sandbox.validate([{ schema, value: exports }], projectId)
    requireJudged(judged)
    verdicts.set(JSON.stringify(schema), judged[0] ?? LOST)
  }
}

export interface AddressAnswer {
  readonly rootId: string
  readonly objectId: string
  /** The row of the question. */
  readonly pollId: string
  /** A sentence for people. */
  readonly message: string
}
/** Opens a gate whose address has answered as it wants. It stays as it is if it was closed anew after the question, or waits no longer. */
export async function openByAddress(
  { trees, families }: Pick<Parts, 'trees' | 'families'>,
  { rootId, objectId, pollId, message }: AddressAnswer,
): Promise<void> {
  await trees.inTree(rootId, async (tree) => {
    await tree.load([objectId])
    const node = tree.slice.get(objectId)
    const at = node && gateOf({ families }, tree, node)
    if (at?.gate.http && (await spendGatePoll(tree.client, objectId, pollId)))
      decided(at, { by: null, message, exports: {} })
  })
}

const WHAT = 'object'
const principalOf = ({ principalId, name }: Viewer) => ({ principalId, name })

function atApproval(
  parts: Parts,
  viewer: Viewer,
  input: Decide,
  mutation: 'approve' | 'reject',
  write: (at: AtGate) => Promise<Decided> | Decided,
): Promise<DecisionResult> {
  const access = { right: RIGHTS.approve, id: input.id, what: WHAT, kind: null, once: byKey(mutation, input) }
  return onObject(parts, viewer, access, (tree, node) =>
    ifUnchanged(tree, input, (): Promise<Decided> | Decided => {
      const at = gateOf(parts, tree, node)
      if (!at?.gate.approval) return refuse(notAwaited(node, 'an approval', at))
      const refused = requireRight(viewer, rightAt(at.gate), node.row.projectId)
      return refused ? refuse(refused) : write(at)
    }),
  )
}

/** The right to decide at this gate. */
const rightAt = ({ approval }: Gate) =>
  approval?.role ? right('approve', 'GATE', [approval.role, 'ADMINISTRATOR']) : RIGHTS.approve

/** Rights that were taken away since do not count. */
async function stillCounted(
  { tree: { client }, node, gate }: AtGate,
  approvals: readonly Approval[],
): Promise<readonly Approval[]> {
  if (approvals.length === 0) return []
  const { projectId } = node.row
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

function notAwaited({ row }: Node, what: string, at: AtGate | null): RefusalOf<'TransitionError'> {
  const refusal = transitionRefused(row.kind, row.phase, 'USER', 'SUCCEEDED', [])
  const instead = at ? describeGate(at.gate) : `It is ${row.phase}.`
  return { ...refusal, message: `It does not wait for ${what}. ${instead}` }
}

const decided = (at: AtGate, decision: Decision): Decided => written(at, { ...at.gate, decision })
function written({ tree, node, gates }: AtGate, gate: Gate): Decided {
  gates.write(node, gate, tree.slice)
  tree.wake([node.row.id])
  return { ok: true, objectId: node.row.id }
}

const REFUSALS = ['NotFoundError', 'ConflictError', 'TransitionError'] as const
export const gateCommands = {
  approve: command(approve, REFUSALS),
  reject: command(reject, REFUSALS),
  signal: command(signal, ['NotFoundError', 'TransitionError']),
}
