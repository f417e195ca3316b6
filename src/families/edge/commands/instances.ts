import { APP_INST, isForEditors } from '../../../core/deployers/item-types.ts'
import { generationMismatch, invalidInput, type RefusalOf, transitionRefused } from '../../../core/errors.ts'
import { sameJson } from '../../../core/json.ts'
import { type LabelInput, labelsOf } from '../../../core/labels.ts'
import type { Viewer } from '../../../core/ports/viewer.ts'
import { isName, NAME_RULE, Problems } from '../../../core/problems.ts'
import { requireRight } from '../../../core/rights.ts'
import type { Node } from '../../../core/tree.ts'
import { json, uuid } from '../../../store/column-types.ts'
import { byKey, type Keyed } from '../../../store/idempotency.ts'
import { statement } from '../../../store/statement.ts'
import { type CommandResult, onObject, refuse } from '../../access.ts'
import type { LockedTree } from '../../family.ts'
import { instanceRights, rights } from '../rights.ts'
import { instanceDetails } from '../rules/details.ts'
import { fail } from '../rules/end-operation.ts'
import { type InstanceKind, PARENTS } from '../rules/kinds.ts'
import { isRequested } from '../rules/operations.ts'
import { ask } from '../rules/requests.ts'
import type { InstanceSpec } from '../rules/spec.ts'
import { inUse } from './cloudlets.ts'
import {
  at,
  busy,
  childrenOf,
  cloudletInTheWay,
  dispatchNow,
  type EdgeParts,
  inTheWay,
  KIND_NOUNS,
  nameOf,
} from './parts.ts'

/** Commands of users on cluster and app instances. An instance runs one operation at a time, and none beside one that it depends on. */

type WriteRefusal = RefusalOf<'ConflictError' | 'ForbiddenError'>
type WriteResult = CommandResult<'InvalidInputError' | 'NotFoundError' | 'ConflictError' | 'ForbiddenError'>

export interface CreateInstance extends Keyed {
  readonly kind: InstanceKind
  readonly parentId: string
  readonly name: string
  readonly labels?: readonly LabelInput[] | null
  readonly spec: unknown
}
export async function createInstance(parts: EdgeParts, viewer: Viewer, input: CreateInstance): Promise<WriteResult> {
  const { kind, parentId, name } = input
  const problems = new Problems()
  if (!isName(name)) problems.add('input.name', NAME_RULE)
  const labels = labelsOf(input.labels ?? [], problems)
  const spec = readSpec(input.spec, problems)
  if (problems.found.length > 0) return refuse(invalidInput(problems.found))
  const found = { ...at(instanceRights[kind].create, parentId, PARENTS[kind]), once: byKey(`create${kind}`, input) }
  return onObject<WriteRefusal>(parts, viewer, found, async (tree, parent) => {
    const refused = requireCodeRight(parts, viewer, kind, tree)
    if (refused) return refuse(refused)
    const stopped = cloudletInTheWay(tree)
    if (stopped) return stopped
    if (parent.row.phase !== 'READY')
      return inTheWay('NOT_READY', parent, `${nameOf(parent)} is ${parent.row.phase}, and must be READY.`)
    const siblings = await childrenOf(tree, parent)
    const taken = siblings.find(({ row }) => row.name === name)
    if (taken)
      return taken.row.phase === 'READY'
        ? inTheWay('ALREADY_EXISTS', taken, `There is a ${KIND_NOUNS[kind]} ${name} already.`)
        : busy(taken)
    const ordinal = Math.max(-1, ...siblings.map(({ row }) => row.ordinal)) + 1
    const { slice } = tree
    const node = slice.create(parent, { kind, name, ordinal, spec, labels, by: viewer })
    begin(tree, node, parts)
    slice.move(node, 'CREATE_REQUESTED', { actor: 'USER', by: viewer })
    ask(node, slice)
    dispatchNow(node, slice)
    return { ok: true, objectId: node.row.id }
  })
}

/** An app brings an image, and a command in it. */
function requireCodeRight(
  { editorTypes }: EdgeParts,
  viewer: Viewer,
  kind: InstanceKind,
  { root }: LockedTree,
): RefusalOf<'ForbiddenError'> | null {
  if (kind !== APP_INST || isForEditors(kind, editorTypes)) return null
  return requireRight(viewer, rights.bringCode, root.row.projectId)
}

function readSpec(spec: unknown, problems: Problems): InstanceSpec {
  if (typeof spec === 'object' && spec !== null && !Array.isArray(spec)) return spec as InstanceSpec
  problems.add('input.spec', 'must be a JSON object')
  return {}
}

/** Starts an operation with an id of its own. */
function begin({ slice }: LockedTree, node: Node, { system }: EdgeParts): void {
  slice.patch(node, { jobId: system.id() })
  if (node.error) slice.setError(node, null)
  if (node.hasProgress) slice.setProgress(node, null)
}

export interface UpdateInstance extends Keyed {
  readonly kind: InstanceKind
  readonly id: string
  readonly spec: unknown
  readonly expectedGeneration?: number | null
}
export async function updateInstance(parts: EdgeParts, viewer: Viewer, input: UpdateInstance): Promise<WriteResult> {
  const { kind, id, expectedGeneration } = input
  const problems = new Problems()
  const spec = readSpec(input.spec, problems)
  if (problems.found.length > 0) return refuse(invalidInput(problems.found))
  const found = { ...at(instanceRights[kind].update, id, kind), once: byKey(`update${kind}`, input) }
  return onObject<WriteRefusal>(parts, viewer, found, async (tree, node) => {
    const persisted = await readStoredSpec(tree, id)
    const isEqual = sameJson(persisted, spec)
    const refused = isEqual ? null : requireCodeRight(parts, viewer, kind, tree)
    if (refused) return refuse(refused)
    const stopped = await inTheWayOf(tree, node)
    if (stopped) return stopped
    const { generation } = node.row
    if (typeof expectedGeneration === 'number' && expectedGeneration !== generation)
      return refuse(generationMismatch(generation, expectedGeneration, id))
    const children = kind === 'CLUSTER_INST' ? await childrenOf(tree, node) : []
    const moving = children.find(({ row }) => row.phase !== 'READY')
    if (moving) return busy(moving)
    const { specRevision, lastRevision, drifted } = instanceDetails(node)
    // An equal spec changes nothing, unless the instance has drifted from it.
    if (!drifted && isEqual) return { ok: true, objectId: id }
    const { slice } = tree
    begin(tree, node, parts)
    const revision = lastRevision + 1
    slice.setSpec(node, spec)
    slice.patch(node, { generation: generation + 1 })
    slice.setDetails(node, {
      specRevision: revision,
      lastRevision: revision,
      keptSpec: persisted,
      keptRevision: specRevision,
    })
    slice.move(node, 'UPDATE_REQUESTED', { actor: 'USER', by: viewer })
    ask(node, slice)
    dispatchNow(node, slice)
    return { ok: true, objectId: id }
  })
}

const EDGE_SPEC = statement({
  name: 'edge-spec',
  text: 'select spec from object_spec where object_id = $1',
  params: [uuid],
  row: { spec: json<InstanceSpec>() },
})

async function readStoredSpec(tree: LockedTree, id: string): Promise<InstanceSpec> {
  const { rows } = await EDGE_SPEC.query(tree.client, [id])
  return rows[0]?.spec ?? {}
}

/** Why an existing instance cannot be updated or deleted now. */
async function inTheWayOf(tree: LockedTree, node: Node) {
  const stopped = cloudletInTheWay(tree)
  if (stopped) return stopped
  if (node.row.phase !== 'READY') return busy(node)
  const parent = tree.slice.parent(node)
  return parent?.row.kind === 'CLUSTER_INST' && parent.row.phase !== 'READY' ? busy(parent) : null
}

export interface DeleteInstance {
  readonly kind: InstanceKind
  readonly id: string
  readonly cascade: boolean
}
export const deleteInstance = (
  parts: EdgeParts,
  viewer: Viewer,
  { kind, id, cascade }: DeleteInstance,
): Promise<WriteResult> =>
  onObject(parts, viewer, at(instanceRights[kind].delete, id, kind), async (tree, node) => {
    const stopped = await inTheWayOf(tree, node)
    if (stopped) return stopped
    const children = kind === 'CLUSTER_INST' ? await childrenOf(tree, node) : []
    if (children.length > 0 && !cascade) return inUse(children)
    const moving = children.find(({ row }) => row.phase !== 'READY')
    if (moving) return busy(moving)
    const { slice } = tree
    for (const one of [node, ...children]) {
      begin(tree, one, parts)
      slice.patch(one, { deletionRequestedAt: slice.now })
      slice.move(one, 'DELETE_PREPARE', { actor: 'USER', by: viewer })
    }
    tree.wake([node, ...children].map(({ row }) => row.id))
    return { ok: true, objectId: id }
  })

export interface CancelInstance extends Keyed {
  readonly kind: InstanceKind
  readonly id: string
  readonly reason?: string | null
}
/** Withdraws a request that the CRM has not acknowledged. */
export function cancelInstance(
  parts: EdgeParts,
  viewer: Viewer,
  input: CancelInstance,
): Promise<CommandResult<'InvalidInputError' | 'NotFoundError' | 'TransitionError' | 'ForbiddenError'>> {
  const { kind, id, reason } = input
  const found = { ...at(instanceRights[kind].cancel, id, kind), once: byKey(`cancel${kind}`, input) }
  return onObject(parts, viewer, found, (tree, node) => {
    const { slice } = tree
    const { phase } = node.row
    if (!isRequested(phase)) {
      const to = phase.startsWith('UPDAT')
        ? 'UPDATE_ERROR'
        : phase.startsWith('DELET')
          ? 'DELETE_ERROR'
          : 'CREATE_ERROR'
      const message = `Only a request that its CRM has not acknowledged can be withdrawn: it is ${phase}.`
      tree.reject(node, to, viewer, message, { actor: 'CONTROLLER' })
      return refuse({ ...transitionRefused(kind, phase, 'CONTROLLER', to, []), message })
    }
    const message = reason ? `Withdrawn by ${viewer.name}: ${reason}` : `Withdrawn by ${viewer.name}.`
    const unseen = (node.work?.pickedUpAt ?? null) !== null
    const parent = slice.parent(node)
    const error = { code: 'WITHDRAWN', message }
    fail(node, slice, { actor: 'CONTROLLER', by: viewer, reason: 'withdrawn', error, unseen })
    if (unseen) dispatchNow(node, slice)
    tree.wake([...(node.gone ? [] : [id]), ...(parent ? [parent.row.id] : [])])
    return { ok: true, objectId: id }
  })
}
