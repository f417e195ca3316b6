import { randomBytes } from 'node:crypto'
import { v7 } from 'uuid'
import type { Viewer } from '../../../src/core/ports/viewer.ts'
import { hasRight } from '../../../src/core/rights.ts'
import { rights as edge } from '../../../src/families/edge/rights.ts'
import { createWorkerTokens } from '../../../src/families/pipelines/store/worker-tokens.ts'
import { FENCE_SECRET_BYTES, makeFence } from '../../../src/store/fence.ts'
import { findProjectId } from '../../../src/store/projects.ts'
import { addInstance, CRM, connectCrm, readyInstance } from '../../testkit/edge.ts'
import { accepted, addEvent, addJob, RUNTIME, runAll, TEMPLATE, treeOf, workerViewer } from '../../testkit/pipelines.ts'
import { viewerOf } from '../../testkit/viewers.ts'
import { DEPLOYER, USER, type World } from '../../testkit/world.ts'
import type { Api } from '../api.ts'

/** A project with objects of each family, by name and id. All names begin with the project's. */
export interface Place {
  readonly project: string
  readonly projectId: string
  /** A root that works on its item, and one without a job. */
  readonly installation: string
  readonly nested: string
  readonly item: string
  readonly fence: string
  readonly idle: string
  /** A dry run of the first. */
  readonly dryRun: string
  /** An event whose worker runs, with a job that has ended; and an event that has ended. */
  readonly event: string
  readonly worker: string
  readonly job: string
  readonly endedEvent: string
  readonly task: string
  readonly gadgetJob: string
  readonly endedTask: string
  /** Its CRM has connected, and one of its instances is still to be created. */
  readonly cloudlet: string
  readonly cluster: string
  readonly app: string
  readonly pendingApp: string
  /** No CRM has connected to it. */
  readonly newCloudlet: string
  readonly schedule: string
  readonly bulk: string
  readonly hook: string
  readonly hookName: string
  readonly delivery: string
  readonly rule: string
  readonly limit: string
  readonly invariant: string
  readonly message: string
  readonly principal: string
  readonly token: string
}

/** Work of this type is offered in each place, and nobody claims it. */
export const OFFERED = 'waits'

const agentOf = (name: string, actor: Viewer['actor']): Viewer => viewerOf('AGENT', { name, actor })

export async function createPlace(api: Api, project: string): Promise<Place> {
  const { world } = api
  const projectId = await createProject(world, project)
  const [deployments, events, tasks, edge] = [
    await createInstallations(world, project),
    await createEvents(world, project),
    await createTasks(world, project),
    await createCloudlets(world, project),
  ]
  await offerWork(world, project, OFFERED)
  const secret = await api.token({ name: `${project}-reader`, role: 'READER', projects: [project] })
  const reader = await world.tokens.authenticate(secret)
  if (!reader) throw new Error('its token is not valid')
  await world.engineHost.agents.claim(await viewerIn(api, project), {
    instance: `${project}-agent`,
    types: [`${project}-nothing`],
    targets: null,
    max: 1,
    leaseMs: 30_000,
  })
  return {
    ...{ project, projectId, principal: reader.principalId, token: reader.tokenId },
    ...(await fresh.schedule(api, { project })),
    ...(await fresh.bulk(api, { project })),
    ...(await fresh.hook(api, { project })),
    ...(await fresh.rule(api, { project }, `${project}-rule`)),
    ...(await fresh.limit(api, { project }, `${project}-limit`)),
    ...(await fresh.invariant(api, { project, projectId })),
    ...{ ...deployments, ...events, ...tasks, ...edge },
  }
}

/** A project that does not exist, with ids of nothing. */
export function unknownPlace({ project: _, ...known }: Place): Place {
  const nothing = Object.fromEntries(Object.keys(known).map((key) => [key, v7()])) as Omit<Place, 'project'>
  return { ...nothing, project: 'nowhere', fence: makeFence(v7(), randomBytes(FENCE_SECRET_BYTES)) }
}

/** The token of the worker of an event. */
export const workerToken = ({ pool, sealing }: World, { worker }: Place): string =>
  createWorkerTokens(pool, sealing).tokenOf(worker, 0) ?? ''

async function viewerIn(api: Api, project: string): Promise<Viewer> {
  const secret = await api.token({ name: `${project}-agent`, role: 'AGENT', projects: [project] })
  const viewer = await api.world.tokens.authenticate(secret)
  if (!viewer) throw new Error('its token is not valid')
  return viewer
}

async function createProject(world: World, name: string): Promise<string> {
  await accepted(world.projects.createProject(USER, { name, workerTemplate: TEMPLATE }))
  await accepted(world.projects.setSecret(USER, { project: name, name: 'SECRET', value: 'x' }))
  await accepted(world.commands.setDataObject(USER, { project: name, name: `${name}-data`, value: 1 }))
  await accepted(world.commands.setTarget(USER, { project: name, name: `${name}-target`, type: 'own' }))
  return (await findProjectId(world.pool, name)) ?? ''
}

async function createInstallations(world: World, project: string) {
  const type = `${project}-type`
  const create = async (name: string, spec: object, reconcile: boolean) => {
    const { objectId } = await accepted(
      world.commands.createInstallation(USER, { project, name: `${project}-${name}`, spec, reconcile }),
    )
    await world.settle()
    return objectId
  }
  const installation = await create(
    'app',
    {
      deployItems: [{ name: `${project}-item`, type }],
      installations: [{ name: `${project}-nested`, spec: {} }],
    },
    true,
  )
  const idle = await create('idle', {}, false)
  const [work] = await world.claim(1, agentOf(`${project}-deployer`, 'DEPLOYER'), [type])
  if (!work) throw new Error('there is no work')
  const { rows } = await world.pool.query<{ id: string }>(
    `select id from object where parent_id = $1 and kind = 'INSTALLATION'`,
    [installation],
  )
  const { dryRunId: dryRun } = await accepted(
    world.commands.dryRunInstallation(USER, { reconcile: { id: installation, mode: 'STANDARD' } }),
  )
  return { installation, idle, dryRun, item: work.objectId, fence: work.fence, nested: rows[0]?.id ?? '' }
}

async function createEvents(world: World, project: string) {
  const [event, endedEvent] = [await addEvent(world, project), await addEvent(world, project)]
  await accepted(world.pipelines.cancelEvent(USER, { id: endedEvent }))
  await world.settle()
  const [work] = await runAll(world)
  const lines = [{ fence: work?.fence ?? '', stream: 'STDOUT', text: `${project}-line` }] as const
  await world.engineHost.agents.appendLogs(RUNTIME, lines)
  const job = await addJob(world, event, `${project}-job`)
  await accepted(world.pipelines.cancelJob(workerViewer(event), { id: job, timedOut: false }))
  await world.settle()
  const { worker } = await treeOf(world, event)
  return { event, endedEvent, job, worker: worker?.id ?? '' }
}

async function createTasks(world: World, project: string) {
  const create = async (name: string) => {
    const jobs = [{ name: `${project}-gadget`, gadget: 'do-it' }]
    const { objectId } = await accepted(
      world.operations.createTask(USER, { project, name: `${project}-${name}`, jobs }),
    )
    await world.settle()
    return objectId
  }
  const [task, endedTask] = [await create('task'), await create('ended')]
  await accepted(world.operations.cancelTask(USER, { id: endedTask }))
  const runner = agentOf(`${project}-runner`, 'GADGET_RUNNER')
  const works = await world.claim(10, runner, ['gadget-job'])
  const work = works.find(({ name }) => name === `${project}-gadget`)
  if (!work) throw new Error('there is no work')
  const locks = [{ resource: `${project}-resource`, mode: 'EXCLUSIVE' }]
  await world.report({ fence: work.fence, phase: 'WAITING', locks } as never, runner)
  return { task, endedTask, gadgetJob: work.objectId }
}

async function createCloudlets(world: World, project: string) {
  const create = async (name: string) => {
    const { objectId } = await accepted(world.edge.createCloudlet(USER, { project, name: `${project}-${name}` }))
    await world.settle()
    return objectId
  }
  const instance = { kind: 'APP_INST', name: `${project}-pending`, spec: {} } as const
  const [cloudlet, newCloudlet] = [await create('cloudlet'), await create('new')]
  await connectCrm(world, cloudlet)
  const cluster = await readyInstance(world, cloudlet)
  const app = await readyInstance(world, cloudlet, 'APP_INST', cluster)
  const { objectId: pendingApp } = await accepted(world.edge.createInstance(USER, { ...instance, parentId: cluster }))
  await world.settle()
  return { cloudlet, newCloudlet, cluster, app, pendingApp }
}

const SECRET = { name: 'one', value: 'sixteen characters' }

/** Objects that a permitted call uses up; they are made for each call by someone who has the right somewhere. */
export const fresh = {
  async event({ world }: Api, { project }: Place) {
    return { event: await addEvent(world, project) }
  },
  /** A new one for each call, since each is paused, resumed and deleted. */
  async schedule({ world }: Api, { project }: Pick<Place, 'project'>) {
    const run = { reconcileInstallation: { name: 'none' } }
    const input = { project, name: `s-${v7()}`, when: { cron: ['0 0 1 1 *'] }, run }
    const { objectId } = await accepted(world.services.automation.createSchedule(USER, input))
    return { schedule: objectId }
  },
  /** It asks nothing, since nothing has its label. */
  async bulk({ world }: Api, { project }: Pick<Place, 'project'>) {
    const input = { project, name: `b-${v7()}`, verb: 'cancel', ids: [v7()] }
    const { objectId } = await accepted(world.services.automation.createBulkOperation(USER, input, null))
    return { bulk: objectId }
  },
  /** With a delivery, which it does not want. */
  async hook({ world }: Api, { project }: Pick<Place, 'project'>) {
    const name = `h-${v7()}`
    const input = { project, name, format: 'GENERIC' as const, secrets: [SECRET], filter: 'false' }
    const { objectId: hookId } = await accepted(world.services.hooks.createHook(USER, input))
    const { rows } = await world.pool.query<{ id: string }>(
      `insert into hook_delivery (id, hook_id, at, outcome, headers, body, body_bytes, hops)
        values (gen_random_uuid(), $1, now(), 'FILTERED', '{}', '{}', 2, 0) returning id`,
      [hookId],
    )
    return { hook: hookId, hookName: name, delivery: rows[0]?.id ?? '' }
  },
  /** A rule with a message that was delivered. */
  async rule({ world }: Api, { project }: Pick<Place, 'project'>, named: unknown = null) {
    const { notifications } = world.services
    const name = typeof named === 'string' ? named : `r-${v7()}`
    const receiver = { webhook: { url: 'https://example.org/' } }
    const { objectId: rule } = await accepted(notifications.createNotificationRule(USER, { project, name, receiver }))
    const { message } = await accepted(notifications.testNotificationRule(USER, { id: rule }))
    await world.pool.query("update notification set state = 'DELIVERED', due = null where id = $1", [message.id])
    return { rule, message: message.id }
  },
  async limit({ world }: Api, { project }: Pick<Place, 'project'>, named: unknown = null) {
    const name = typeof named === 'string' ? named : `l-${v7().slice(-12)}`
    const { objectId: limit } = await accepted(world.services.flow.createLimit(USER, { project, name, max: 1 }))
    return { limit }
  },
  /** The only one of its project, which does not count as one with an invariant: work is offered there. */
  async invariant({ world }: Api, { project, projectId }: Pick<Place, 'project' | 'projectId'>) {
    const invariant = v7()
    await world.pool.query('delete from invariant where project_id = $1', [projectId])
    await world.pool.query(
      `insert into invariant (id, project_id, name, description, after_project_id, after_project, same_values, generation, created_at, updated_at)
        values ($1, $2, $3, '', gen_random_uuid(), 'default', '{}', 1, now(), now())`,
      [invariant, projectId, `${project}-invariant`],
    )
    return { invariant }
  },
  async hold({ world }: Api, { project }: Place) {
    await accepted(world.services.automation.holdAutomation(USER, { project, reason: 'a test' }))
    return {}
  },
  async data({ world }: Api, { project }: Place) {
    await accepted(world.commands.setDataObject(USER, { project, name: `${project}-old`, value: 1 }))
    return {}
  },
  async secret({ world }: Api, { project }: Place) {
    await accepted(world.projects.setSecret(USER, { project, name: 'OLD', value: 'x' }))
    return {}
  },
  async cache({ world }: Api, { projectId }: Place) {
    await world.pool.query(
      `insert into artifact (id, event_id, project_id, name, is_folder, created_at, completed_at, used_at, sha256)
        values (gen_random_uuid(), $1, $1, 'old', false, now(), now(), now(), '')`,
      [projectId],
    )
    return {}
  },
  async target({ world }: Api, { project }: Place) {
    await accepted(world.commands.setTarget(USER, { project, name: 'old', type: 'own' }))
    return {}
  },
  async principal(api: Api, { project }: Place) {
    const secret = await api.token({ name: `${project}-old`, role: 'READER', projects: [project] })
    const viewer = await api.world.tokens.authenticate(secret)
    return { principal: viewer?.principalId ?? '', token: viewer?.tokenId ?? '' }
  },
  async offer({ world }: Api, { project }: Place) {
    await offerWork(world, project, `${project}-offered`)
    return {}
  },
  /** Work that the caller has claimed if it may. */
  async work({ world }: Api, { project }: Place, viewer: Viewer): Promise<Partial<Place>> {
    await offerWork(world, project, 'fresh')
    const [work] = [...(await world.claim(1, viewer, ['fresh'])), ...(await world.claim(1, STRANGER, ['fresh']))]
    return { fence: work?.fence ?? '' }
  },
  /** A dry run that the caller has claimed if it may. */
  async dryRun({ world }: Api, { project }: Place, viewer: Viewer): Promise<Partial<Place>> {
    const claim = async (by: Viewer) => {
      const wanted = { instance: 'one', types: ['tried'], targets: null, dryRuns: true, max: 1, leaseMs: 30_000 }
      const claimed = await world.engineHost.agents.claim(by, wanted)
      return claimed.ok ? claimed.items : []
    }
    // The server knows then that somebody does dry runs of this type.
    await claim(DEPLOYER)
    const spec = { deployItems: [{ name: 'one', type: 'tried' }] }
    await accepted(world.commands.dryRunInstallation(USER, { create: { project, name: `${project}-${v7()}`, spec } }))
    const [work] = [...(await claim(viewer)), ...(await claim(DEPLOYER))]
    return { fence: work?.fence ?? '' }
  },
  /** A cloudlet with a request to the caller if that may serve it. */
  async served({ world }: Api, { project, projectId }: Place, viewer: Viewer): Promise<Partial<Place>> {
    const { objectId: cloudlet } = await accepted(
      world.edge.createCloudlet(USER, { project, name: `${project}-${v7()}` }),
    )
    await world.settle()
    await connectCrm(world, cloudlet, { viewer: hasRight(viewer, edge.serveCloudlet, projectId) ? viewer : CRM })
    await addInstance(world, 'CLUSTER_INST', cloudlet)
    return { cloudlet }
  },
}
const STRANGER = agentOf('stranger', 'DEPLOYER')

/** Offers work of a type, in a root of its own. */
export async function offerWork(world: World, project: string, type: string): Promise<void> {
  const spec = { deployItems: [{ name: `${project}-item`, type }] }
  await accepted(
    world.commands.createInstallation(USER, { project, name: `${project}-${v7()}`, spec, reconcile: true }),
  )
  await world.settle()
}
