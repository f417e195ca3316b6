import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { startAgentProcess } from '../../src/agents/spawn.ts'
import { type Client, createClient } from '../../src/client/index.ts'
import { Secret } from '../../src/core/secret.ts'
import type { VariablesOf } from '../../src/documents/typed-document.ts'
import { parseManifests } from '../../src/manifest/index.ts'
import { playCrms } from '../cli/played-crm.ts'
import { playRunner } from '../cli/played-runner.ts'
import { PLAYED, playRuntime } from '../cli/played-runtime.ts'
import { ask, present } from '../testkit/ask.ts'
import { MUTATIONS } from '../testkit/documents.ts'
import { gql } from '../testkit/gql.ts'
import { create, items, show } from '../testkit/mutations.ts'
import type { ReachableServer } from '../testkit/server.ts'
import { until } from '../testkit/wait.ts'

/** Something of every family, at rest in the midst of its work: what the pictures of the documentation show. */
export interface PicturedWorld extends AsyncDisposable {
  readonly shop: string
  readonly index: string
}

const WEBSHOP = join(import.meta.dirname, '../../examples/webshop')

/** Needs a server without agents of its own, which would take the played work. `state` is the folder of the shop's services. */
export async function picturedWorld(server: ReachableServer, state: string): Promise<PicturedWorld> {
  const { client } = server
  await using making = new AsyncDisposableStack()
  await startDeployers(server, state, making)
  const parsed = parseManifests(readFileSync(join(WEBSHOP, 'webshop.yaml'), 'utf8'))
  const shop = await create(client, 'shop', (parsed.ok && parsed.manifests[0]?.spec) || {})
  await until(async () => (await show(client, shop))?.finished, { what: 'the shop is open' })
  await create(client, 'billing', {
    deployItems: [
      { name: 'ledger', type: 'mock', config: {} },
      { name: 'cluster', type: 'terraform', dependsOn: ['ledger'], config: {} },
    ],
  })
  await create(client, 'analytics', {
    deployItems: [
      { name: 'warehouse', type: 'mock', config: { logLines: 5 } },
      { name: 'reports', type: 'mock', dependsOn: ['warehouse'], config: { fail: true } },
    ],
  })
  const index = await create(client, 'search-index', {
    installations: [
      { name: 'shards', spec: items(12, { delayMs: 600_000, steps: 600 }) },
      { name: 'router', spec: { deployItems: [{ name: 'proxy', type: 'mock', config: { delayMs: 2_000 } }] } },
    ],
    deployItems: [{ name: 'schema', type: 'mock', config: { delayMs: 1_500, logLines: 8 } }],
  })
  await makeTasks(server, making)
  await makeEvents(server, making)
  await makeEdge(server, making)
  await makePlaces(server)
  await makeSchedules(server)
  await makeHooksAndRules(server)
  await makeLimits(server)
  const all = making.move()
  return { shop, index, [Symbol.asyncDispose]: () => all.disposeAsync() }
}

async function startDeployers(
  { client, url }: ReachableServer,
  state: string,
  making: AsyncDisposableStack,
): Promise<void> {
  const types = ['mock', 'gadget']
  const input = { name: 'deployers', role: 'AGENT', actor: 'DEPLOYER', types } as const
  const { secret: token } = await ask(client, MUTATIONS.createToken, input)
  const env = { ...process.env, PHASELINE_STATE: state }
  making.use(
    startAgentProcess({ types, url, token: new Secret(token), gadgetFolders: [join(WEBSHOP, 'gadgets')], env }),
  )
}

const CREATE_SCHEDULE = gql(`mutation ($input: CreateScheduleInput!) {
  answer: createSchedule(input: $input) { ... on Schedule { id } ... on Error { message } }
}`)
async function makeSchedules({ client }: ReachableServer): Promise<void> {
  const build = { createEvent: { source: 'schedule', type: 'nightly' } }
  const nightly = { project: 'builds', name: 'nightly', when: { cron: ['30 2 * * 1-5'], timeZone: 'Europe/Berlin' } }
  await ask(client, CREATE_SCHEDULE, { ...nightly, run: build })
  const report = { project: 'builds', name: 'weekly-report', when: { cron: ['0 7 * * 1'], timeZone: 'Europe/Berlin' } }
  await ask(client, CREATE_SCHEDULE, { ...report, run: build })
  const run = { reconcileInstallation: { name: 'shop' } }
  await ask(client, CREATE_SCHEDULE, { name: 'keep-the-shop', when: { cron: ['0 */6 * * *'] }, run })
}

const CREATE_HOOK = gql(`mutation ($input: CreateHookInput!) {
  answer: createHook(input: $input) { ... on Hook { path } ... on Error { message } }
}`)
const CREATE_RULE = gql(`mutation ($input: CreateNotificationRuleInput!) {
  answer: createNotificationRule(input: $input) { ... on NotificationRule { id } ... on Error { message } }
}`)
const CREATE_LIMIT = gql(`mutation ($input: CreateLimitInput!) {
  answer: createLimit(input: $input) { ... on Limit { id } ... on Error { message } }
}`)
async function makeLimits({ client }: ReachableServer): Promise<void> {
  await ask(client, CREATE_LIMIT, { name: 'deploys', max: 2, maxPerKey: 1 })
  await ask(client, CREATE_LIMIT, { name: 'geocoder', rate: { count: 30, perMs: 60_000 } })
  const item = (name: string, key: string) => ({
    ...{ name, type: 'mock', config: { delayMs: 600_000 } },
    limits: [{ limit: 'deploys', key }],
  })
  await create(client, 'rollout', { deployItems: [item('eu-1', 'eu'), item('eu-2', 'eu'), item('us-1', 'us')] })
}

async function makeHooksAndRules({ client, origin }: ReachableServer): Promise<void> {
  const secrets = [{ name: 'first', value: 'as-long-as-it-must-be' }]
  const hook = { project: 'builds', secrets }
  await ask(client, CREATE_HOOK, { ...hook, name: 'shop-repository', format: 'GITHUB' })
  await ask(client, CREATE_HOOK, { ...hook, name: 'registry', format: 'GENERIC' })
  await ask(client, CREATE_HOOK, { ...hook, project: 'default', name: 'alerts', format: 'CLOUDEVENTS' })
  const headers = { authorization: `Bearer ${secrets[0]?.value}` }
  await fetch(`${origin}/hooks/builds/registry`, { method: 'POST', headers, body: '{"pushed":"web:7"}' })
  const rule = { receiver: { webhook: { url: 'https://chat.example.org/hook' } } }
  await ask(client, CREATE_RULE, { ...rule, name: 'failures', changes: { classes: ['FAILED'], rootsOnly: true } })
  const nightly = { kinds: ['SCHEDULE' as const], reasons: ['LATE', 'MISSED'] }
  await ask(client, CREATE_RULE, { ...rule, project: 'builds', name: 'nightly', changes: nightly, enabled: false })
}

async function makeTasks(server: ReachableServer, making: AsyncDisposableStack): Promise<void> {
  const { client } = server
  const runner = making.use(await playRunner(server))
  type Jobs = VariablesOf<typeof MUTATIONS.createTask>['input']['jobs']
  const task = (name: string, jobs: Jobs) => ask(client, MUTATIONS.createTask, { name, jobs })
  await task('patch-web', [
    { name: 'drain', gadget: 'drain' },
    { name: 'patch', gadget: 'patch', dependsOn: ['drain'] },
    { name: 'resume', gadget: 'resume', dependsOn: ['patch'] },
  ])
  await task('rotate-keys', [{ name: 'rotate', gadget: 'rotate' }])
  await task('nightly-backup', [{ name: 'dump', gadget: 'postgres-copy' }])
  await task('read-metrics', [{ name: 'scrape', gadget: 'scrape' }])
  await runner.declare('default/patch-web/drain', 'host:web-1=X', 'host:web-2=X')
  await runner.take('default/patch-web/drain', 'RUN')
  await runner.declare('default/nightly-backup/dump', 'db:orders=S')
  await runner.take('default/nightly-backup/dump', 'RUN')
  await runner.declare('default/read-metrics/scrape', 'db:orders=S', 'host:web-2=S')
  await runner.declare('default/rotate-keys/rotate', 'host:web-1=X', 'db:orders=X')
}

async function makeEvents(server: ReachableServer, making: AsyncDisposableStack): Promise<void> {
  const { client } = server
  const runtime = making.use(await playRuntime(server))
  const command = ['node', 'pipeline.mjs']
  await ask(client, MUTATIONS.createProject, {
    name: 'builds',
    limits: { maxWorkers: 2 },
    subscriptions: [
      { source: 'github.com/acme/shop', types: ['push', 'tag'] },
      { source: 'cron', types: ['*'], labels: [{ key: 'every', value: 'night' }] },
    ],
    workerTemplate: { runtime: PLAYED, command },
  })
  for (const name of ['NPM_TOKEN', 'DEPLOY_KEY'])
    await ask(client, MUTATIONS.setSecret, { project: 'builds', name, value: 'not shown' })
  const push = { project: 'builds', source: 'github.com/acme/shop', type: 'push' }
  const [first, second] = [await event(client, push), await event(client, { ...push, type: 'tag' })]
  await event(client, push)
  const done = await runtime.start(`builds/${first}`)
  await runtime.end(done, 0)
  const worker = await runtime.start(`builds/${second}`)
  for (const job of ['test', 'lint', 'publish']) await runtime.addJob(worker, job)
  await runtime.end(await runtime.start(`builds/${second}`, 'lint'), 1)
  await runtime.start(`builds/${second}`, 'test')
}

/** Its name. */
async function event(client: Client, input: VariablesOf<typeof MUTATIONS.createEvent>['input']): Promise<string> {
  const { events } = await ask(client, MUTATIONS.createEvent, input)
  return present(events[0]).name
}

async function makeEdge(server: ReachableServer, making: AsyncDisposableStack): Promise<void> {
  const { client } = server
  const site = await playCrms(server)
  for (const name of ['berlin', 'lagos', 'osaka']) {
    const { id: cloudletId } = await ask(client, MUTATIONS.createCloudlet, { name })
    if (name === 'osaka') continue
    const crm = making.use(await site.connect(cloudletId, { instance: `crm-${name}`, version: '2.4.1' }))
    for (const cluster of ['games', 'video']) {
      const { id: clusterInstId } = await ask(client, MUTATIONS.createClusterInst, {
        cloudletId,
        name: cluster,
        spec: { nodes: 3 },
      })
      const request = await crm.take(`${name}/${cluster}`, 'CREATE')
      if (name === 'lagos' && cluster === 'video') {
        await crm.report(request, { phase: 'CREATE_ERROR', error: { code: 'QUOTA', message: 'No node is left.' } })
        continue
      }
      await crm.report(request, { phase: 'READY' })
      for (const app of ['lobby', 'matchmaker', 'relay']) {
        await ask(client, MUTATIONS.createAppInst, { clusterInstId, name: app, spec: { image: `${app}:7` } })
        const wanted = await crm.take(`${name}/${cluster}/${app}`, 'CREATE')
        await crm.report(wanted, { phase: app === 'relay' && name === 'berlin' ? 'CREATING' : 'READY' })
      }
    }
  }
}

const REGISTER = gql(`mutation Register($input: RegisterPlaceInput!) {
  answer: registerPlace(input: $input) { __typename ... on Error { message } }
}`)
/** A runtime is heard of by its claims. */
const HEARD = gql(`mutation Claim($name: String!) {
  answer: claimWork(input: { instance: $name, types: ["process"], targets: [$name] }) { __typename }
}`)
const DRAIN = gql('mutation Drain($input: DrainPlaceInput!) { answer: drainPlace(input: $input) { __typename } }')

/** Registers a place as its runtime does. */
export async function addPlace(runtime: Client, name: string, zone: string): Promise<void> {
  const labels = [{ key: 'zone', value: zone }]
  await runtime.query(REGISTER, { input: { name, type: 'process', labels, capacity: 4 } })
  await runtime.query(HEARD, { name })
}

/** The client of a runtime of processes. */
export async function runtimeClient({ client, url }: Pick<ReachableServer, 'client' | 'url'>): Promise<Client> {
  const token = { name: 'runtimes', role: 'AGENT', actor: 'RUNTIME', types: ['process'] } as const
  const { secret } = await ask(client, MUTATIONS.createToken, token)
  return createClient({ url, token: secret })
}

async function makePlaces(server: ReachableServer): Promise<void> {
  await using runtime = await runtimeClient(server)
  for (const [name, zone] of [
    ['builder-1', 'eu'],
    ['builder-2', 'eu'],
    ['builder-3', 'us'],
  ] as const)
    await addPlace(runtime, name, zone)
  await server.client.query(DRAIN, { input: { name: 'builder-2', reason: 'new disks' } })
}
