import type { Client } from '../../src/client/index.ts'
import type { Phase } from '../../src/core/vocabulary.ts'
import type { VariablesOf } from '../../src/documents/typed-document.ts'
import { ask, present } from '../testkit/ask.ts'
import { MUTATIONS } from '../testkit/documents.ts'
import { gql } from '../testkit/gql.ts'
import { until } from '../testkit/wait.ts'
import {
  type CrmConnection,
  type CrmSession,
  connectCrm,
  type Item,
  type PlayedAgent,
  playAgent,
  reach,
} from './played.ts'

/**
 * The content of a release's database: some of everything, ended, waiting and in the middle of something. All of it goes
 * through the public API, and agents are played.
 */

/** A server of the release. */
export interface Site {
  readonly url: string
  /** The administrator's client. */
  readonly client: Client
  /** Stops it, makes the log so far older than any retention, and starts it again. */
  age(): Promise<void>
}

/** Facts that only the filler of the database knows. */
export interface Notes {
  readonly admin: string
  readonly secretKey: string
  /** Tokens of agents, by kind. */
  readonly tokens: Readonly<Record<'deployer' | 'runner' | 'runtime' | 'crm', string>>
  readonly reader: string
  /** The token with which the worker of shop:event-2 calls. */
  readonly worker: string
  /** Fences of claimed work, by the name of its object. */
  readonly fences: Readonly<Record<string, string>>
  readonly secret: { readonly name: string; readonly value: string }
  /** Positions at which a reader has turned the page, and the number of entries before them. */
  readonly pages: Pages
  /** A creation with a key, and the id of its result. */
  readonly once: { readonly input: InstallationInput; readonly id: string }
}
interface Pages {
  readonly turned: number
  readonly phaseChanges: string
  readonly objects: string
}
type TaskInput = VariablesOf<typeof MUTATIONS.createTask>['input']
type TokenInput = VariablesOf<typeof MUTATIONS.createToken>['input']
type InstallationInput = VariablesOf<typeof MUTATIONS.createInstallation>['input']
type Filled = Omit<Notes, 'admin' | 'secretKey'>

const never = { pickup: { never: true }, progressing: { never: true } }
const item = (name: string, type = 'mock', more: object = {}) => ({ name, type, timeouts: never, ...more })
const exporting = (name: string) => ({
  exports: [{ name, value: `\${deployItems.${name}made.exports.value}` }],
  deployItems: [item(`${name}made`)],
})
const importing = (name: string, itemName: string) => ({
  imports: [{ name }],
  deployItems: [item(itemName, 'mock', { config: { given: `\${imports.${name}}` } })],
})
const LABELS = [{ key: 'team', value: 'core' }]
/** Crashes are played with leases that nobody renews. */
const SHORT_LEASE_MS = 1_000

export const SECRET = { name: 'API_KEY', value: 'what-nobody-may-read' } as const
export const CRM = { instance: 'crm-of-before', version: '1.0', leaseMs: 600_000 } as const
export const TEMPLATE = { runtime: 'played', command: ['work'], env: [{ name: 'LEVEL', value: '3' }], workspace: true }

export const JOB = { command: ['true'], args: ['x'], env: [{ name: 'A', value: '1' }] } as const

export async function fillReleased(site: Site): Promise<Filled> {
  const { client } = site
  const token = async (name: string, more: Omit<TokenInput, 'name'>): Promise<string> =>
    (await ask(client, MUTATIONS.createToken, { name, ...more })).secret
  const tokens = {
    deployer: await token('deployer', { role: 'AGENT', types: ['mock', 'later'] }),
    runner: await token('runner', { role: 'AGENT', actor: 'GADGET_RUNNER', types: ['gadget-job'] }),
    runtime: await token('runtime', { role: 'AGENT', actor: 'RUNTIME', types: [TEMPLATE.runtime] }),
    crm: await token('crm', { role: 'AGENT', actor: 'CRM' }),
  }
  const reader = await token('reader', { role: 'READER', projects: ['default'] })
  await using stack = new AsyncDisposableStack()
  const play = (name: keyof typeof tokens, types: readonly string[], leaseMs?: number): PlayedAgent =>
    stack.use(playAgent({ url: site.url, token: tokens[name], types, ...(leaseMs ? { leaseMs } : {}) }))

  const deployer = play('deployer', ['mock'])
  await fillPast(client, deployer)
  await site.age()
  const deployments = await fillDeployments(client, deployer, play('deployer', ['later']))
  const operations = await fillOperations(
    client,
    () => play('runner', ['gadget-job']),
    () => play('runner', ['gadget-job'], SHORT_LEASE_MS),
  )
  const pipelines = await fillPipelines(client, play('runtime', [TEMPLATE.runtime]), site.url)
  const edge = await fillEdge(client, play('crm', []).client)
  const { once } = deployments
  const fences = { ...deployments.fences, ...operations, ...pipelines.fences, ...edge }
  return { tokens, reader, worker: pipelines.worker, fences, secret: SECRET, once, pages: await turnPages(client) }
}

const ENDS = gql(`query ($first: Int!) {
  phaseChanges(first: $first) { pageInfo { endCursor } } objects(first: $first) { pageInfo { endCursor } }
}`)
async function turnPages(client: Client): Promise<Pages> {
  const turned = 5
  const { phaseChanges, objects } = await client.query(ENDS, { first: turned })
  const endOf = (page: typeof phaseChanges | typeof objects): string => present(page?.pageInfo.endCursor)
  return { turned, phaseChanges: endOf(phaseChanges), objects: endOf(objects) }
}

const create = (client: Client, name: string, spec: InstallationInput['spec']): Promise<string> =>
  ask(client, MUTATIONS.createInstallation, { name, spec }).then(({ id }) => id)
const succeed = async (agent: PlayedAgent, name: string, exports: object = {}): Promise<void> =>
  agent.report((await agent.take(name, 'RECONCILE')).fence, { phase: 'SUCCEEDED', exports })

/** Creates history that the log has forgotten: one tree still exists, and one is gone. */
async function fillPast(client: Client, deployer: PlayedAgent): Promise<void> {
  await create(client, 'ancient', exporting('age'))
  await succeed(deployer, 'agemade', { value: 'bronze' })
  const departed = await create(client, 'departed', { deployItems: [item('dust')] })
  await succeed(deployer, 'dust')
  await reach(client, 'INSTALLATION', 'default:departed', 'SUCCEEDED')
  await ask(client, MUTATIONS.deleteInstallation, { id: departed })
  const dust = await deployer.take('dust', 'DELETE')
  await deployer.report(dust.fence, { phase: 'GONE' })
  await reach(client, 'INSTALLATION', 'default:ancient', 'SUCCEEDED')
}

async function fillDeployments(client: Client, deployer: PlayedAgent, late: PlayedAgent) {
  const fences: Record<string, string> = {}
  const hold = async (name: string): Promise<Item> => {
    const taken = await deployer.take(name, 'RECONCILE')
    fences[name] = taken.fence
    return taken
  }
  const ended = (name: string, phase: Phase) => reach(client, 'INSTALLATION', `default:${name}`, phase)

  const once = { name: 'platform', labels: LABELS, spec: PLATFORM, idempotencyKey: 'once' }
  const { id } = await ask(client, MUTATIONS.createInstallation, once)
  await succeed(deployer, 'cidrmade', { value: '10.0.0.0/8' })
  await succeed(deployer, 'serve')
  await ended('platform', 'SUCCEEDED')
  await create(client, 'follower', importing('cidr', 'follow'))
  await succeed(deployer, 'follow')
  await ended('follower', 'SUCCEEDED')
  await ask(client, MUTATIONS.setDataObject, { name: 'region', value: { name: 'north', zones: [1, 2.5, 'ü'] } })

  await create(client, 'broken', { deployItems: [item('crack')] })
  const crack = await deployer.take('crack', 'RECONCILE')
  const error = { code: 'BROKEN', message: 'It broke.' }
  await deployer.report(crack.fence, { phase: 'FAILED', error })
  await ended('broken', 'FAILED')

  await create(client, 'waiting', importing('licence', 'licensed'))
  await ended('waiting', 'PENDING_DEPENDENCIES')

  // Its removal waits for somebody to come.
  const parting = await create(client, 'parting', { deployItems: [item('remains', 'later')] })
  await succeed(late, 'remains')
  await ended('parting', 'SUCCEEDED')
  await ask(client, MUTATIONS.deleteInstallation, { id: parting })

  const offered = [item('offered', 'later'), item('after', 'mock', { dependsOn: ['taken'] })]
  await create(client, 'held', { deployItems: [item('taken'), ...offered] })
  const taken = await hold('taken')
  await deployer.report(taken.fence, { message: 'half of it', progress: { value: 1, total: 2, unit: 'halves' } })

  const edited = await create(client, 'edited', { deployItems: [item('slow', 'mock', { config: { n: 1 } })] })
  await hold('slow')
  const spec = { deployItems: [item('slow', 'mock', { config: { n: 2 } }), item('more')] }
  await ask(client, MUTATIONS.updateInstallation, { id: edited, spec, reconcile: false })

  const again = await create(client, 'again', { deployItems: [item('busy')] })
  await hold('busy')
  await ask(client, MUTATIONS.reconcileInstallation, { id: again, mode: 'FORCE' })

  const stopped = await create(client, 'stopped', { deployItems: [item('halt')] })
  await hold('halt')
  await ask(client, MUTATIONS.cancelInstallation, { id: stopped, reason: 'not now' })
  await ended('edited', 'PROGRESSING')
  return { fences, once: { input: once, id } }
}

const PLATFORM = {
  exports: [{ name: 'cidr', value: '${installations.network.exports.cidr}' }],
  installations: [
    { name: 'network', spec: exporting('cidr') },
    { name: 'apps', spec: importing('cidr', 'serve') },
  ],
}

async function fillOperations(
  client: Client,
  play: () => PlayedAgent,
  playShortly: () => PlayedAgent,
): Promise<Record<string, string>> {
  await ask(client, MUTATIONS.createProject, { name: 'ops' })
  const runner = play()
  const run = async (name: string, jobs: TaskInput['jobs'] = [{ name: `${name}-job`, gadget: 'turn' }]) =>
    (await ask(client, MUTATIONS.createTask, { project: 'ops', name, jobs })).id
  const declare = async (job: string, ...resources: readonly string[]): Promise<void> => {
    const locks = resources.map((resource) => ({ resource, mode: 'EXCLUSIVE' }))
    await runner.report((await runner.take(job, 'GET_LOCKS')).fence, { phase: 'WAITING', locks })
  }
  const start = async (job: string, ...resources: readonly string[]): Promise<Item> => {
    await declare(job, ...resources)
    return runner.take(job, 'RUN')
  }
  const error = { code: 'GADGET_FAILED', message: 'the disk is full' }

  await run('copied', [
    { name: 'copy', gadget: 'copy', args: ['--to', 'x'] },
    { name: 'tell', gadget: 'tell', args: ['${jobs.copy.exports.file}'] },
  ])
  await runner.report((await start('copy', 'host:copy')).fence, { phase: 'DONE', exports: { file: '/tmp/x' } })
  await runner.report((await start('tell')).fence, { phase: 'DONE', exports: {} })
  await reach(client, 'TASK', 'ops:copied', 'SUCCEEDED')

  // It crashed once, ran again, was cancelled, and could not be cleaned up.
  const crashed = await run('crashed')
  await declare('crashed-job', 'host:crash')
  const first = await playShortly().take('crashed-job', 'RUN')
  const undo = await runner.take('crashed-job', 'UNDO')
  if (first.fence === undo.fence) throw new Error('nobody crashed')
  await runner.report(undo.fence, { phase: 'RUNNING' })
  const second = await runner.take('crashed-job', 'RUN')
  await ask(client, MUTATIONS.cancelTask, { id: crashed })
  await runner.report(second.fence, { phase: 'UNDO_FAILED', error })

  const dirty = await run('dirty')
  const dirtied = await start('dirty-job', 'host:dirty')
  await ask(client, MUTATIONS.cancelTask, { id: dirty })
  await runner.report(dirtied.fence, { phase: 'UNDO_FAILED', error })

  await run('stuck')
  await runner.report((await start('stuck-job', 'host:shared')).fence, { phase: 'UNDOING', error })
  await runner.report((await runner.take('stuck-job', 'UNDO')).fence, { phase: 'UNDO_FAILED', error })
  await run('queued')
  await declare('queued-job', 'host:shared')

  await run('turning')
  const fences: Record<string, string> = { 'turning-job': (await start('turning-job', 'host:turn')).fence }
  await run('undoing')
  await runner.report((await start('undoing-job', 'host:undo')).fence, { phase: 'UNDOING', error })
  fences['undoing-job'] = (await runner.take('undoing-job', 'UNDO')).fence
  return fences
}

async function fillPipelines(client: Client, runtime: PlayedAgent, url: string) {
  const source = 'github.com/acme'
  const subscriptions = [
    { source, types: ['push'], qualifiers: [{ key: 'branch', value: 'main' }] },
    { source, types: ['nightly'], task: { jobs: [{ name: 'nightly-job', gadget: 'sweep' }] } },
  ]
  // The third worker waits for a slot, and so does the third job.
  const limits = { maxWorkers: 2, maxJobs: 2 }
  await ask(client, MUTATIONS.createProject, { name: 'shop', workerTemplate: TEMPLATE, subscriptions, limits })
  await ask(client, MUTATIONS.setSecret, { project: 'shop', ...SECRET })
  const push = { source, type: 'push', qualifiers: [{ key: 'branch', value: 'main' }] }
  const come = (input: VariablesOf<typeof MUTATIONS.createEvent>['input']) => ask(client, MUTATIONS.createEvent, input)
  const addJob = async (worker: Item, name: string): Promise<void> => {
    await using own = playAgent({ url, token: worker.token ?? '', types: [] })
    await ask(own.client, MUTATIONS.createJob, { name, spec: JOB })
  }
  const begin = async (name: string): Promise<Item> => {
    const started = await runtime.take(name, 'START')
    await runtime.report(started.fence, { phase: 'RUNNING' })
    return started
  }
  const end = (fence: string, exitCode: number) =>
    runtime.report(fence, {
      phase: exitCode === 0 ? 'SUCCEEDED' : 'FAILED',
      exports: { exitCode, signal: null },
      ...(exitCode === 0 ? {} : { error: { code: 'EXIT_CODE', message: `It ended with ${exitCode}.` } }),
    })

  await come({ ...push, payload: '{"a": 1}', labels: LABELS })
  const done = await begin('worker')
  const lines = ['first', 'second', 'größer als 3'].map((text) => ({
    fence: done.fence,
    stream: 'STDOUT' as const,
    text,
  }))
  await ask(runtime.client, MUTATIONS.appendLogs, { lines })
  for (const [name, code] of [
    ['lint', 0],
    ['spell', 1],
  ] as const) {
    await addJob(done, name)
    await end((await begin(name)).fence, code)
  }
  await end(done.fence, 0)
  await reach(client, 'EVENT', 'shop:event-1', 'SUCCEEDED')

  await come(push)
  const busy = await begin('worker')
  const fences: Record<string, string> = { 'shop:event-2/worker': busy.fence }
  for (const name of ['build', 'bundle', 'publish']) await addJob(busy, name)
  fences.build = (await begin('build')).fence
  fences.bundle = (await runtime.take('bundle', 'START')).fence
  await come(push)
  fences['shop:event-3/worker'] = (await runtime.take('worker', 'START')).fence
  await come(push)
  await come({ source, type: 'nightly' })
  return { fences, worker: busy.token ?? '' }
}

async function fillEdge(client: Client, crm: Client): Promise<Record<string, string>> {
  await ask(client, MUTATIONS.createProject, { name: 'edge' })
  const { id: cloudletId } = await ask(client, MUTATIONS.createCloudlet, { project: 'edge', name: 'north' })
  await ask(client, MUTATIONS.createCloudlet, { project: 'edge', name: 'lonely' })
  const objects: NonNullable<CrmConnection['objects']>[number][] = [
    { kind: 'APP_INST', path: ['north', 'old', 'lost'], phase: 'READY', specRevision: 7 },
  ]
  const connect = (): Promise<CrmSession> => connectCrm(crm, { ...CRM, cloudletId, objects })
  /** As of one answer: a later one may stand for the same requests with other fences. */
  const fencesOf = (...paths: readonly string[]): Promise<readonly string[]> =>
    until(
      async () => {
        const { requests } = await connect()
        const found = paths.flatMap((path) => requests.find((one) => one.path.join('/') === path)?.fence ?? [])
        return found.length === paths.length ? found : null
      },
      { what: `${paths.join()} is asked for` },
    )
  const report = (fence: string, phase: Phase) => ask(crm, MUTATIONS.reportPhases, { reports: [{ fence, phase }] })
  await connect()
  await reach(client, 'CLOUDLET', 'edge:north', 'READY')

  const makeReady = async (kind: 'CLUSTER_INST' | 'APP_INST', path: readonly string[]): Promise<void> => {
    const [fence = ''] = await fencesOf(path.join('/'))
    await report(fence, 'READY')
    await reach(client, kind, `edge:${path.join('/')}`, 'READY')
    objects.push({ kind, path, phase: 'READY', specRevision: 1 })
  }
  const spec = { size: 1 }
  const { id: clusterInstId } = await ask(client, MUTATIONS.createClusterInst, { cloudletId, name: 'one', spec })
  await makeReady('CLUSTER_INST', ['north', 'one'])
  const { id: app } = await ask(client, MUTATIONS.createAppInst, { clusterInstId, name: 'web', spec })
  await makeReady('APP_INST', ['north', 'one', 'web'])
  await ask(client, MUTATIONS.updateAppInst, { id: app, spec: { size: 2 } })
  await ask(client, MUTATIONS.createClusterInst, { cloudletId, name: 'two', spec: { size: 3 } })
  const [updating = '', creating = ''] = await fencesOf('north/one/web', 'north/two')
  await report(updating, 'UPDATING')
  await reach(client, 'APP_INST', 'edge:north/one/web', 'UPDATING')
  return { 'edge:north/one/web': updating, 'edge:north/two': creating }
}
