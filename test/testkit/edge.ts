import type { Report } from '../../src/core/ports/agents.ts'
import type { Viewer } from '../../src/core/ports/viewer.ts'
import type { Phase } from '../../src/core/vocabulary.ts'
import type { CrmSession } from '../../src/families/edge/commands/connect-crm.ts'
import type { InstanceKind } from '../../src/families/edge/rules/kinds.ts'
import type { CrmRole, ReportedObject, Session } from '../../src/families/edge/rules/spec.ts'
import { type CrmRequest, outstandingRequests } from '../../src/families/edge/store/requests-of.ts'
import { accepted } from './pipelines.ts'
import { viewerOf } from './viewers.ts'
import { USER, type World } from './world.ts'

/** Cloudlets and instances said shortly, with a CRM that the test plays. */

export const CRM: Viewer = viewerOf('AGENT', { name: 'crm', actor: 'CRM' })

let cloudlets = 0
export async function addCloudlet(world: World, name = `cloudlet-${++cloudlets}`): Promise<string> {
  const { objectId } = await accepted(world.edge.createCloudlet(USER, { project: 'default', name }))
  await world.settle()
  return objectId
}

let instances = 0
export interface Connecting {
  readonly instance?: string
  readonly role?: CrmRole
  readonly version?: string
  readonly leaseMs?: number
  readonly objects?: readonly ReportedObject[]
  readonly call?: number
  readonly viewer?: Viewer
}
/** A CRM of that instance; a new one when none is named. */
export async function connectCrm(world: World, cloudletId: string, how: Connecting = {}): Promise<CrmSession> {
  const { instance = `instance-${++instances}`, role = 'CRM', version = '1', leaseMs = 600_000, objects = [] } = how
  const input = { cloudletId, instance, role, version, leaseMs, objects, call: how.call ?? 0 }
  const { session } = await accepted(world.edge.connectCrm(how.viewer ?? CRM, input))
  await world.settle()
  return session
}
/** A cloudlet whose CRM is there. */
export async function readyCloudlet(world: World): Promise<{ id: string; name: string; session: CrmSession }> {
  const id = await addCloudlet(world)
  const session = await connectCrm(world, id)
  return { id, name: (await seeById(world, id)).name, session }
}

export const addInstance = async (
  world: World,
  kind: InstanceKind,
  parentId: string,
  { name = `i${++instances}`, spec = { size: 1 } as object } = {},
): Promise<string> => {
  const { objectId } = await accepted(world.edge.createInstance(USER, { kind, parentId, name, spec }))
  await world.settle()
  return objectId
}

export interface SeenInstance {
  readonly id: string
  readonly name: string
  readonly phase: Phase
  readonly jobId: string | null
  readonly finishedJobId: string | null
  readonly generation: number
  readonly error: { readonly code: string; readonly message: string } | null
  readonly spec: unknown
  readonly specRevision: number | null
  readonly drifted: boolean | null
  readonly undoing: boolean | null
  readonly upgradePhase: Phase | null
  readonly epoch: number | null
  readonly orphans: readonly ReportedObject[] | null
  readonly version: string | null
}
export async function findById(world: World, id: string): Promise<SeenInstance | null> {
  const { rows } = await world.pool.query<SeenInstance>(
    `select o.id, o.name, o.phase, o.job_id as "jobId", o.finished_job_id as "finishedJobId", o.generation, s.error, p.spec,
       i.spec_revision as "specRevision", i.drifted, i.undoing, c.upgrade_phase as "upgradePhase", c.epoch, c.orphans, c.version
     from object o left join object_status s on s.object_id = o.id left join object_spec p on p.object_id = o.id
     left join edge_inst i on i.object_id = o.id left join cloudlet c on c.object_id = o.id where o.id = $1`,
    [id],
  )
  return rows[0] ?? null
}
export async function seeById(world: World, id: string): Promise<SeenInstance> {
  const found = await findById(world, id)
  if (!found) throw new Error(`there is no ${id}`)
  return found
}
export const phaseOf = async (world: World, id: string): Promise<Phase | 'gone'> =>
  (await findById(world, id))?.phase ?? 'gone'

/** The present requests to the CRM that serves the cloudlet. */
export async function requestsFor(world: World, cloudletId: string): Promise<readonly CrmRequest[]> {
  const { rows } = await world.pool.query<{ sessions: readonly Session[] }>(
    'select sessions from cloudlet where object_id = $1',
    [cloudletId],
  )
  const session = rows[0]?.sessions.find(({ role }) => role === 'CRM')
  return session ? await outstandingRequests(world.pool, cloudletId, session) : []
}
/** The request that there is for an object. */
export async function requestFor(world: World, cloudletId: string, objectId: string): Promise<CrmRequest> {
  const found = (await requestsFor(world, cloudletId)).find((request) => request.objectId === objectId)
  if (!found) throw new Error(`nothing is asked for ${objectId}`)
  return found
}
export const sendReport = (world: World, report: Report): Promise<boolean | string> => world.report(report, CRM)

/** An instance that is there. */
export async function readyInstance(
  world: World,
  cloudletId: string,
  kind: InstanceKind = 'CLUSTER_INST',
  parentId = cloudletId,
): Promise<string> {
  const id = await addInstance(world, kind, parentId)
  await sendReport(world, { fence: (await requestFor(world, cloudletId, id)).fence, phase: 'READY' })
  return id
}

/** Phases from the log, with actor and reason. */
export async function transitionsOf(world: World, id: string, machine = 'instance'): Promise<readonly string[]> {
  const { rows } = await world.pool.query<{ line: string }>(
    `select actor || ' ' || "to" || case when reason in ('resync', 'timeout', 'withdrawn') then ' ' || reason else '' end as line
     from phase_change where object_id = $1 and machine = $2 and not rejected order by batch_id, idx`,
    [id, machine],
  )
  return rows.map(({ line }) => line)
}
