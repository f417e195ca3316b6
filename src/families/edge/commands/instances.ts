import { invalidInput, notFound, transitionRefused } from '../../../core/errors.ts'
import { sameJson } from '../../../core/json.ts'
import { type LabelInput, labelsOf } from '../../../core/labels.ts'
import type { Viewer } from '../../../core/ports.ts'
import { isName, NAME_RULE, Problems } from '../../../core/problems.ts'
import type { Node } from '../../../core/tree.ts'
import { findObject } from '../../../store/objects.ts'
import { type Done, mayRead, refuse } from '../../access.ts'
import type { HeldTree } from '../../family.ts'
import { once } from '../../keys.ts'
import { fail } from '../end-operation.ts'
import { instanceFacts } from '../facts.ts'
import { isRequested } from '../operations.ts'
import { ask } from '../requests.ts'
import type { InstanceSpec } from '../spec.ts'
import { inUse } from './cloudlets.ts'
import {
  busy,
  childrenOf,
  type EdgeParts,
  handNow,
  inTheWay,
  nameOf,
  onObject,
  upgradeInTheWay,
  WORDS,
} from './parts.ts'

/** What users do with cluster instances and app instances. One operation at a time, and nothing in parallel that depends on it. */

export type InstanceKind = 'CLUSTER_INST' | 'APP_INST'
const PARENT = { CLUSTER_INST: 'CLOUDLET', APP_INST: 'CLUSTER_INST' } as const

export interface CreateInstance {
  readonly kind: InstanceKind
  readonly parentId: string
  readonly name: string
  readonly labels?: readonly LabelInput[] | null
  readonly spec: unknown
  readonly idempotencyKey?: string | null
}
export async function createInstance(parts: EdgeParts, viewer: Viewer, input: CreateInstance): Promise<Done> {
  const { kind, parentId, name } = input
  const problems = new Problems()
  if (!isName(name)) problems.add('input.name', NAME_RULE)
  const labels = labelsOf(input.labels ?? [], problems)
  const spec = readSpec(input.spec, problems)
  if (problems.found.length > 0) return refuse(invalidInput(problems.found))
  return onObject(parts, viewer, { id: parentId, kind: PARENT[kind] }, (held, parent) => {
    const scope = { client: held.client, projectId: parent.row.projectId, now: held.slice.now }
    return once(scope, viewer, `create${kind}`, input, async () => {
      const stopped = upgradeInTheWay(held.root)
      if (stopped) return stopped
      if (parent.row.phase !== 'READY')
        return inTheWay('NOT_READY', parent, `${nameOf(parent)} is ${parent.row.phase}, and must be READY.`)
      const siblings = await childrenOf(held, parent)
      const taken = siblings.find(({ row }) => row.name === name)
      if (taken)
        return taken.row.phase === 'READY'
          ? inTheWay('ALREADY_EXISTS', taken, `There is a ${WORDS[kind]} ${name} already.`)
          : busy(taken)
      const ordinal = Math.max(-1, ...siblings.map(({ row }) => row.ordinal)) + 1
      const { slice } = held
      const node = slice.create(parent, { kind, name, ordinal, spec, labels, by: viewer.name })
      begin(held, node, parts)
      slice.move(node, 'CREATE_REQUESTED', { actor: 'USER', by: viewer.name })
      ask(node, slice)
      handNow(node, slice)
      return { ok: true, objectId: node.row.id }
    })
  })
}

function readSpec(spec: unknown, problems: Problems): InstanceSpec {
  if (typeof spec === 'object' && spec !== null && !Array.isArray(spec)) return spec as InstanceSpec
  problems.add('input.spec', 'must be a JSON object')
  return {}
}

/** A new operation, with an id of its own. */
function begin({ slice }: HeldTree, node: Node, { ambient }: EdgeParts): void {
  slice.patch(node, { jobId: ambient.id() })
  if (node.error) slice.setError(node, null)
  if (node.hasProgress) slice.setProgress(node, null)
}

export interface UpdateInstance {
  readonly kind: InstanceKind
  readonly id: string
  readonly spec: unknown
  readonly expectedGeneration?: number | null
}
export async function updateInstance(parts: EdgeParts, viewer: Viewer, input: UpdateInstance): Promise<Done> {
  const { kind, id, expectedGeneration } = input
  const problems = new Problems()
  const spec = readSpec(input.spec, problems)
  if (problems.found.length > 0) return refuse(invalidInput(problems.found))
  return onObject(parts, viewer, { id, kind }, async (held, node) => {
    const stopped = await inTheWayOf(held, node)
    if (stopped) return stopped
    const { generation } = node.row
    if (typeof expectedGeneration === 'number' && expectedGeneration !== generation)
      return inTheWay('GENERATION_MISMATCH', node, `It is at generation ${generation}, not ${expectedGeneration}.`)
    const children = kind === 'CLUSTER_INST' ? await childrenOf(held, node) : []
    const moving = children.find(({ row }) => row.phase !== 'READY')
    if (moving) return busy(moving)
    const kept = await readStoredSpec(held, id)
    const { specRevision, lastRevision, drifted } = instanceFacts(node)
    // What is as it is wanted is left alone, unless it is known not to be really so.
    if (!drifted && sameJson(kept, spec)) return { ok: true, objectId: id }
    const { slice } = held
    begin(held, node, parts)
    const revision = lastRevision + 1
    slice.setSpec(node, spec)
    slice.patch(node, { generation: generation + 1 })
    slice.setFacts(node, { specRevision: revision, lastRevision: revision, keptSpec: kept, keptRevision: specRevision })
    slice.move(node, 'UPDATE_REQUESTED', { actor: 'USER', by: viewer.name })
    ask(node, slice)
    handNow(node, slice)
    return { ok: true, objectId: id }
  })
}

async function readStoredSpec(held: HeldTree, id: string): Promise<InstanceSpec> {
  const { rows } = await held.client.query<{ spec: InstanceSpec }>({
    name: 'edge-spec',
    text: 'select spec from object_spec where object_id = $1',
    values: [id],
  })
  return rows[0]?.spec ?? {}
}

/** What keeps an instance that is there from being updated or deleted. */
async function inTheWayOf(held: HeldTree, node: Node) {
  const stopped = upgradeInTheWay(held.root)
  if (stopped) return stopped
  if (node.row.phase !== 'READY') return busy(node)
  const parent = held.slice.parent(node)
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
): Promise<Done> =>
  onObject(parts, viewer, { id, kind }, async (held, node) => {
    const stopped = await inTheWayOf(held, node)
    if (stopped) return stopped
    const children = kind === 'CLUSTER_INST' ? await childrenOf(held, node) : []
    if (children.length > 0 && !cascade) return inUse(children)
    const moving = children.find(({ row }) => row.phase !== 'READY')
    if (moving) return busy(moving)
    const { slice } = held
    for (const one of [node, ...children]) {
      begin(held, one, parts)
      slice.patch(one, { deletionRequestedAt: slice.now })
      slice.move(one, 'DELETE_PREPARE', { actor: 'USER', by: viewer.name })
    }
    held.wake([node, ...children].map(({ row }) => row.id))
    return { ok: true, objectId: id }
  })

export interface CancelInstance {
  readonly kind: InstanceKind
  readonly id: string
  readonly reason?: string | null
}
/** Withdraws a request that the CRM has not acknowledged. */
export const cancelInstance = (parts: EdgeParts, viewer: Viewer, { kind, id, reason }: CancelInstance): Promise<Done> =>
  onObject(parts, viewer, { id, kind }, (held, node) => {
    const { slice } = held
    const { phase } = node.row
    const by = viewer.name
    if (!isRequested(phase)) {
      const to = phase.startsWith('UPDAT')
        ? 'UPDATE_ERROR'
        : phase.startsWith('DELET')
          ? 'DELETE_ERROR'
          : 'CREATE_ERROR'
      const message = `Only a request that its CRM has not acknowledged can be withdrawn: it is ${phase}.`
      held.reject(node, to, by, message, { actor: 'CONTROLLER' })
      return refuse({ ...transitionRefused(kind, phase, 'CONTROLLER', to, []), message })
    }
    const message = reason ? `Withdrawn by ${by}: ${reason}` : `Withdrawn by ${by}.`
    const unseen = (node.work?.pickedUpAt ?? null) !== null
    const parent = slice.parent(node)
    fail(node, slice, { actor: 'CONTROLLER', by, reason: 'withdrawn', error: { code: 'WITHDRAWN', message }, unseen })
    if (unseen) handNow(node, slice)
    held.wake([...(node.gone ? [] : [id]), ...(parent ? [parent.row.id] : [])])
    return { ok: true, objectId: id }
  })

/** What a viewer may see of a cloudlet, for CRMs. */
export async function findCloudlet({ client }: EdgeParts, viewer: Viewer, id: string) {
  const found = await findObject(client, id)
  if (found?.kind !== 'CLOUDLET' || !mayRead(viewer, found.projectName)) return refuse(notFound(id, WORDS.CLOUDLET))
  return { ok: true, found } as const
}
