import { randomBytes } from 'node:crypto'
import { forbidden, invalidInput, notFound, type RefusalOf, stale } from '../../../core/errors.ts'
import { clampLeaseMs, leaseFrom } from '../../../core/lease.ts'
import type { Outcome } from '../../../core/ports/outcome.ts'
import type { Principal, Viewer } from '../../../core/ports/viewer.ts'
import { Problems } from '../../../core/problems.ts'
import type { Node, Slice } from '../../../core/tree.ts'
import { text, uuid } from '../../../store/column-types.ts'
import { statement } from '../../../store/statement.ts'
import * as table from '../../../store/tables.ts'
import { noteAgent } from '../../../store/work.ts'
import { findFor, refuse } from '../../access.ts'
import type { LockedTree } from '../../family.ts'
import { rights } from '../rights.ts'
import { cloudletDetails, isUpgrading, servingSession, upgradeSession } from '../rules/details.ts'
import { operationAt } from '../rules/operations.ts'
import { CRM_TYPE, dispatchTo, fenceParts } from '../rules/requests.ts'
import { resyncAll } from '../rules/resync-all.ts'
import type { CrmRole, ReportedObject, Session } from '../rules/spec.ts'
import { connect, moveUpgrade, upgradeHeard, withReplaced } from '../rules/upgrade.ts'
import { requestFence, sessionFence } from '../store/fences.ts'
import { keepLease } from '../store/queries.ts'
import { type CrmRequest, outstandingRequests } from '../store/requests-of.ts'
import { isVersion, VERSION_RULE } from './cloudlets.ts'
import { type EdgeParts, KIND_NOUNS } from './parts.ts'

/** Connects a CRM, again or for the first time: applies the state of all its instances and returns its pending requests. */

export interface ConnectCrm {
  readonly cloudletId: string
  readonly instance: string
  readonly role: CrmRole
  readonly version: string
  readonly leaseMs: number
  readonly objects: readonly ReportedObject[]
  /** Grows with each call of one instance. */
  readonly call: number
}
export interface CrmSession {
  readonly epoch: number
  readonly fence: string
  readonly leaseUntil: Date
  readonly requests: readonly CrmRequest[]
}
type Connected = Outcome<
  { readonly session: CrmSession },
  RefusalOf<'InvalidInputError' | 'NotFoundError' | 'StaleReportError' | 'ForbiddenError'>
>

const REPORTABLE = [
  ...(['READY', 'NOT_PRESENT', 'CREATING', 'UPDATING', 'DELETING'] as const),
  ...(['CREATE_ERROR', 'UPDATE_ERROR', 'DELETE_ERROR'] as const),
]

export async function connectCrm(parts: EdgeParts, viewer: Viewer, input: ConnectCrm): Promise<Connected> {
  const problems = problemsOf(input)
  if (problems.length > 0) return refuse(invalidInput(problems))
  const { cloudletId } = input
  const what = KIND_NOUNS.CLOUDLET
  const located = await findFor(parts.pool, viewer, rights.serveCloudlet, { id: cloudletId, what })
  if (!located.ok) return located
  type Connecting = Outcome<{ readonly connected: Connection }, Rejection>
  const tree = await parts.trees.inTree(cloudletId, async (tree): Promise<Connecting> => {
    const refusal = refusalOf(tree.root, viewer, input)
    return refusal ? refuse(refusal) : { ok: true, connected: await connectTo(tree, parts, viewer, input) }
  })
  if (!tree) return refuse(notFound(cloudletId, what))
  if (!tree.ok) return tree
  const { session, isNew, fence, leaseUntil } = tree.connected
  // Read after all writes, so that the answer has the requests that they caused.
  const requests =
    session.role === 'CRM' ? await outstandingRequests(parts.pool, cloudletId, session, { includeStarted: isNew }) : []
  return { ok: true, session: { epoch: session.epoch, fence, leaseUntil, requests } }
}

function problemsOf({ instance, version, objects }: ConnectCrm) {
  const problems = new Problems()
  if (instance === '') problems.add('input.instance', 'must not be empty')
  if (!isVersion(version)) problems.add('input.version', VERSION_RULE)
  for (const [i, { kind, path, phase }] of objects.entries()) {
    const length = kind === 'CLUSTER_INST' ? 2 : kind === 'APP_INST' ? 3 : null
    if (length === null) problems.add(`input.objects.${i}.kind`, 'must be CLUSTER_INST or APP_INST')
    else if (path.length !== length)
      problems.add(`input.objects.${i}.path`, `must have ${length} names, the cloudlet's first`)
    if (!REPORTABLE.some((known) => known === phase))
      problems.add(`input.objects.${i}.phase`, `must be one of ${REPORTABLE.join(', ')}`)
  }
  return problems.found
}

type Rejection = RefusalOf<'ForbiddenError' | 'StaleReportError'>
function refusalOf(
  cloudlet: Node,
  { targets, types, principalId }: Viewer,
  { instance, role, call }: ConnectCrm,
): Rejection | null {
  const { id, name } = cloudlet.row
  const isTarget = targets === null || targets.includes(name) || targets.includes(id)
  if (!isTarget || (types !== null && !types.includes(CRM_TYPE)))
    return forbidden(`This token may not serve the cloudlet ${name}.`)
  const { sessions, replaced } = cloudletDetails(cloudlet)
  const known = sessions.find((session) => session.instance === instance)
  if (known && known.principalId !== principalId)
    return forbidden(`${instance} is the instance of somebody else's session.`)
  // A later call of the same instance has replaced this one: its data is outdated, and nobody waits for the answer.
  if (known && call > 0 && call <= known.call) return stale('A later call of the same process has overtaken this one.')
  if (known) return null
  if (replaced.includes(instance)) return stale('A newer CRM has connected since: this process has to end.')
  if (role === 'CRM_V2' && !isUpgrading(cloudlet)) return stale('No upgrade runs: this process has to end.')
  return null
}

interface Connection {
  readonly session: Session
  readonly isNew: boolean
  readonly fence: string
  readonly leaseUntil: Date
}

async function connectTo(tree: LockedTree, parts: EdgeParts, viewer: Viewer, input: ConnectCrm): Promise<Connection> {
  const { slice, root, client } = tree
  const { principalId, name, actor } = viewer
  const cloudletId = root.row.id
  const { session, isNew } = sessionFor(root, slice, input, viewer)
  if (session.role === 'CRM') await serve(tree, session, { by: viewer, isNew, objects: input.objects })
  tree.wake([cloudletId])
  const leaseUntil = leaseFrom(slice.now, clampLeaseMs(input.leaseMs))
  const { fence, hash } = sessionFence(session.salt, cloudletId)
  await keepLease(client, { cloudletId, epoch: session.epoch, fenceHash: hash, principalId, until: leaseUntil })
  const { instance } = input
  const agent = {
    id: parts.system.id(),
    principalId,
    name,
    instance,
    actor,
    types: [CRM_TYPE],
    targets: [root.row.name],
    targetSelector: null,
  }
  await noteAgent(client, { ...agent, now: slice.now })
  return { session, isNew, fence, leaseUntil }
}

/** A process that reconnects keeps its session. A new process gets the next epoch and replaces the previous one. */
function sessionFor(
  cloudlet: Node,
  slice: Slice,
  { instance, role, version, objects, call }: ConnectCrm,
  { principalId, name }: Principal,
): { readonly session: Session; readonly isNew: boolean } {
  const { sessions, replaced, epoch: last } = cloudletDetails(cloudlet)
  const isUpgrade = role === 'CRM_V2'
  const known = sessions.find((session) => session.instance === instance)
  const salt = known?.salt ?? randomBytes(16).toString('hex')
  const session: Session = {
    role: known?.role ?? (isUpgrade ? 'CRM_V2' : 'CRM'),
    epoch: known?.epoch ?? last + 1,
    instance,
    principalId,
    name,
    version,
    connectedAt: slice.now.toISOString(),
    salt,
    fenceHash: sessionFence(salt, cloudlet.row.id).hash.toString('hex'),
    objects: null,
    call,
  }
  const replacedSession = session.role === 'CRM' ? servingSession(cloudlet) : upgradeSession(cloudlet)
  const others = sessions.filter((one) => one !== replacedSession)
  const found = session.role === 'CRM_V2' ? { ...session, objects } : session
  slice.setDetails(cloudlet, {
    sessions: [...others, found],
    epoch: Math.max(last, session.epoch),
    ...(replacedSession && !known ? { replaced: withReplaced(replaced, [replacedSession]) } : {}),
    ...(session.role === 'CRM' ? { version } : {}),
  })
  if (replacedSession && !known)
    slice.effect('endCrmLease', { cloudletId: cloudlet.row.id, epoch: replacedSession.epoch })
  if (session.role === 'CRM_V2') acknowledge(cloudlet, slice, name)
  return { session, isNew: !known }
}

/** The new CRM of an upgrade has connected. */
function acknowledge(cloudlet: Node, slice: Slice, by: string): void {
  upgradeHeard(cloudlet, slice)
  if (cloudletDetails(cloudlet).upgradePhase === 'INIT_OK') return
  moveUpgrade(cloudlet, slice, 'INIT_OK', { message: `${by} has connected.` })
}

interface Serving {
  readonly by: Principal
  readonly isNew: boolean
  readonly objects: readonly ReportedObject[]
}

/** The CRM serves the cloudlet: applies the state of its instances and dispatches the pending requests to it. */
async function serve(tree: LockedTree, session: Session, { by, isNew, objects }: Serving): Promise<void> {
  const { slice, root } = tree
  if (isNew && root.row.phase !== 'OFFLINE' && root.row.phase !== 'INIT') slice.move(root, 'INIT', { actor: 'CRM', by })
  connect(root, slice, { by })
  const known = await loadInstances(tree)
  resyncAll({ cloudlet: root, known }, slice, objects, { by, isNew })
  const upgrade = cloudletDetails(root).upgradePhase === 'UPDATE_REQUESTED' ? [root] : []
  for (const node of [...known.values(), ...upgrade]) {
    const waits = !node.gone && (node === root || operationAt(node.row.phase) !== null)
    if (waits && (isNew || !node.work?.fenceHash))
      dispatchTo(node, slice, session, requestFence(fenceParts(node, session)).hash)
  }
  tree.wake([...known.values()].filter(({ gone }) => !gone).map(({ row }) => row.id))
}

const EDGE_INSTANCES = statement({
  name: 'edge-instances',
  text: `select o.id, concat_ws('/', r.name, p.name, o.name) as path from object o join object r on r.id = o.root_id
      left join object p on p.id = o.parent_id and p.id <> r.id where o.root_id = $1 and o.id <> $1 order by o.kind, o.id`,
  params: [uuid],
  row: { id: table.object.id, path: text },
})

/** All instances of the cloudlet by path, parents first. */
async function loadInstances(tree: LockedTree): Promise<ReadonlyMap<string, Node>> {
  const { id } = tree.root.row
  const { rows } = await EDGE_INSTANCES.query(tree.client, [id])
  await tree.load(rows.map((row) => row.id))
  return new Map(
    rows.flatMap(({ id: of, path }) => {
      const node = tree.slice.get(of)
      return node ? [[path, node] as const] : []
    }),
  )
}
