import { execFileSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type CustomTypesConfig, Client as PostgresClient, types } from 'pg'
import type { Client } from '../../src/client/index.ts'
import { createClient } from '../../src/client/index.ts'
import { type CuttingProxy, startCuttingProxy } from '../faults/cutting-proxy.ts'
import { type SwallowingProxy, startSwallowingProxy } from '../faults/swallowing-proxy.ts'
import { ask } from '../testkit/ask.ts'
import { MUTATIONS } from '../testkit/documents.ts'
import { gql } from '../testkit/gql.ts'
import { TEST_PREFIX } from '../testkit/leftovers.ts'
import { type OwnPostgres, startOwnPostgres } from '../testkit/own-postgres.ts'
import { startRedis, type TestRedis } from '../testkit/redis.ts'
import { SECRET_KEY, startServer, type TestServer } from '../testkit/server.ts'
import { until } from '../testkit/wait.ts'
import { type ChaosAgent, startAgents } from './agents.ts'
import type { Death } from './evidence.ts'
import { HOOK, LIMITS, PROJECT, SECRET, SOURCE, WORKER_LIMITS } from './load.ts'
import { type ChaosAddress, type ChaosReceiver, startChaosAddress, startChaosReceiver } from './receivers.ts'
import { RECORD_FLOW } from './record-flow.ts'

/** The processes of a chaos run: one Postgres, one Redis, servers with a breakable link to each, agents, clients. */
export interface ChaosPlace extends AsyncDisposable {
  readonly folder: string
  /** Through the gateways that are reachable. */
  readonly client: Client
  readonly url: string
  readonly token: string
  readonly cloudletId: string
  /** Ids of the limits, by name; empty if servers of an earlier version take part, which know none. */
  readonly limits: ReadonlyMap<string, string>
  readonly servers: readonly TestServer[]
  /** Each server's way to Postgres. */
  readonly ways: readonly SwallowingProxy[]
  readonly gateways: CuttingProxy
  readonly redis: TestRedis
  readonly agents: readonly ChaosAgent[]
  /** One for each rule. */
  readonly receivers: readonly ChaosReceiver[]
  readonly address: ChaosAddress
  /** Ends of agents so far. */
  readonly deaths: readonly Death[]
  readonly database: ChaosDatabase
  /** Reads the database as it is at one moment, past all that is broken. */
  read<T>(read: (query: Query) => Promise<T>): Promise<T>
  readonly query: Query
}
export type Query = <Row extends object>(sql: string) => Promise<readonly Row[]>
export interface ChaosDatabase {
  readonly current: OwnPostgres
  /** The disk of the first database, if it has one of its own. */
  readonly disk: string | null
  /** Copies it, and puts the copy in its place a moment later. */
  failOver(afterMs: () => Promise<void>): Promise<void>
}

export const MAX_WORKERS = 4
const DISK_MB = 600
/** Few, so that somebody can have them all. */
const CONNECTIONS = 60
const TOKEN = 'a-token-of-the-administrator'

/** The command of workers, which note their starts. The checker knows what they print. */
const workload = (starts: string): string[] => [
  'sh',
  '-c',
  `read up _ < /proc/uptime; echo "\${PHASELINE_WORKSPACE##*/} $up $${SECRET}" >> ${starts}
  for line in 1 2 3 4 5 6 7 8 9 10; do echo "line $line"; done
  sleep 0.$(($$ % 5 + 1)); echo end; exit $(($$ % 4 / 3))`,
]

export interface PlaceOptions {
  readonly seed: number
  readonly servers: number
  /** The command of the version before, for upgrades. */
  readonly previous: string | null
}

export async function openPlace({ seed, servers: count, previous }: PlaceOptions): Promise<ChaosPlace> {
  await using stack = new AsyncDisposableStack()
  const folder = stack.adopt(await mkdtemp(join(tmpdir(), 'phaseline-chaos-')), (path) =>
    rm(path, { recursive: true, force: true }),
  )
  const database = await openDatabase(stack)
  const redis = stack.use(await startRedis())
  const ways: SwallowingProxy[] = []
  const starting: Promise<TestServer>[] = []
  for (let i = 0; i < count; i++) {
    const way = stack.use(await startSwallowingProxy(() => database.current.socket))
    ways.push(way)
    const server = startOne(database, way, redis, i, previous)
    starting.push(server)
    // The first one migrates.
    if (i === 0) await server
  }
  const servers = await Promise.all(starting)
  for (const server of servers) stack.defer(() => server.stop().then(() => undefined))
  const gateways = stack.use(await startCuttingProxy(servers.map(({ port }) => port)))
  const url = `http://127.0.0.1:${gateways.port}/graphql`
  const client = stack.adopt(createClient({ url, token: TOKEN }), (one) => one.close())

  const { id: cloudletId } = await ask(client, MUTATIONS.createCloudlet, { name: 'berlin' })
  const command = workload(join(folder, 'starts'))
  const workerTemplate = { command, workspace: true, runtime: 'process', limits: WORKER_LIMITS }
  await ask(client, MUTATIONS.createProject, { name: PROJECT, workerTemplate })
  const limits = new Map<string, string>()
  for (const [name, { project, bounds }] of Object.entries(LIMITS))
    limits.set(name, (await ask(client, CREATE_LIMIT, { name, project, ...bounds[0] })).id)
  await recordFlow(database)
  const tokens = {
    DEPLOYER: await tokenOf(client, 'DEPLOYER', 'chaos'),
    RUNTIME: await tokenOf(client, 'RUNTIME', 'process'),
    GADGET_RUNNER: await tokenOf(client, 'GADGET_RUNNER', 'gadget-job'),
    CRM: await tokenOf(client, 'CRM', 'crm', ['berlin']),
  }
  const receivers = await openAutomation(client, stack, seed)
  const address = stack.use(await startChaosAddress(seed + 2))
  const deaths: Death[] = []
  const agents = await startAgents({ url, folder, tokens, cloudlet: 'berlin', deaths })
  for (const agent of agents) stack.use(agent)
  const all = stack.move()
  const read: ChaosPlace['read'] = async (read) => {
    await using own = new AsyncDisposableStack()
    // It may have been killed a moment ago.
    const postgres = await until(() => connected(database), { what: 'Postgres takes connections' })
    own.defer(() => postgres.end())
    await postgres.query('begin isolation level repeatable read read only')
    return await read(async <Row extends object>(sql: string) => (await postgres.query<Row>(sql)).rows)
  }
  return {
    folder,
    client,
    url,
    token: TOKEN,
    cloudletId,
    limits,
    servers,
    ways,
    gateways,
    redis,
    agents,
    receivers,
    address,
    deaths,
    database,
    read,
    query: (sql) => read((query) => query(sql)),
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  }
}

const CREATE_HOOK = gql(`mutation ($input: CreateHookInput!) {
  answer: createHook(input: $input) { ... on Hook { id } ... on Error { message } }
}`)
const CREATE_RULE = gql(`mutation ($input: CreateNotificationRuleInput!) {
  answer: createNotificationRule(input: $input) { ... on NotificationRule { id } ... on Error { message } }
}`)
const CREATE_LIMIT = gql(`mutation ($input: CreateLimitInput!) {
  answer: createLimit(input: $input) { ... on Limit { id } ... on Error { message } }
}`)
async function recordFlow(database: ChaosDatabase): Promise<void> {
  const postgres = await connected(database)
  await postgres?.query(RECORD_FLOW)
  await postgres?.end()
}
/** A hook, and a rule of each project; together they tell the changes of these kinds. */
async function openAutomation(client: Client, stack: AsyncDisposableStack, seed: number) {
  await ask(client, CREATE_HOOK, {
    ...{ project: PROJECT, name: HOOK.name, format: 'GITHUB', secrets: [{ name: 'one', value: HOOK.secret }] },
    event: { source: SOURCE.hook, type: 'push', payload: '${body.id}' },
  })
  const receivers = [stack.use(await startChaosReceiver(seed)), stack.use(await startChaosReceiver(seed + 1))]
  const [first, second] = receivers.map(({ url }) => ({ url }))
  if (first)
    await ask(client, CREATE_RULE, {
      ...{ name: 'roots', changes: { kinds: ['INSTALLATION', 'TASK'] }, receiver: { webhook: first } },
    })
  if (second)
    await ask(client, CREATE_RULE, {
      ...{ project: PROJECT, name: 'events', changes: { kinds: ['EVENT', 'WORKER', 'SCHEDULE'] } },
      receiver: { cloudEvents: second },
    })
  return receivers
}

/** Counts and sequences are numbers, as the store reads them. */
const getTypeParser: CustomTypesConfig['getTypeParser'] = (oid, format) =>
  oid === types.builtins.INT8 && format !== 'binary' ? Number : types.getTypeParser(oid, format)

async function connected({ current }: ChaosDatabase): Promise<PostgresClient | null> {
  const postgres = new PostgresClient({ ...current.connection, types: { getTypeParser } })
  // The next query reports a connection that has ended.
  postgres.on('error', () => undefined)
  return await postgres.connect().then(
    () => postgres,
    () => null,
  )
}

async function openDatabase(stack: AsyncDisposableStack): Promise<ChaosDatabase> {
  const disk = await mountDisk()
  if (disk !== null) stack.defer(() => unmount(disk))
  const settings = { max_connections: String(CONNECTIONS) }
  let current = await startOwnPostgres(disk === null ? undefined : join(disk, `${TEST_PREFIX}data`), settings)
  stack.defer(() => current[Symbol.asyncDispose]())
  return {
    get current() {
      return current
    },
    get disk() {
      return disk
    },
    async failOver(meanwhile) {
      const start = await current.copy(true)
      await meanwhile()
      const former = current
      // Its connections end with it.
      await former[Symbol.asyncDispose]()
      current = await start()
    },
  }
}

/** A small disk of its own, which can be full; null: this user cannot mount one. */
async function mountDisk(): Promise<string | null> {
  if (process.getuid?.() !== 0) return null
  const disk = await mkdtemp(join(tmpdir(), 'phaseline-disk-'))
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_MB}m,mode=755`, 'tmpfs', disk], { stdio: 'ignore' })
    return disk
  } catch {
    await rm(disk, { recursive: true })
    return null
  }
}
async function unmount(disk: string): Promise<void> {
  execFileSync('umount', ['--lazy', disk])
  await rm(disk, { recursive: true })
}

const startOne = (
  { current }: ChaosDatabase,
  way: SwallowingProxy,
  redis: TestRedis,
  i: number,
  previous: string | null,
) => {
  const { user, database } = current.connection
  let starts = 0
  return startServer({
    token: TOKEN,
    // It can be set while the server runs.
    clock: { offset: i === 1 ? '+14s' : '+0s' },
    ...(previous !== null && { program: () => (starts++ % 2 === 0 ? previous : PRESENT) }),
    env: {
      DATABASE_URL: `postgresql://${user}@127.0.0.1:${way.port}/${database}`,
      REDIS_URL: redis.url,
      PHASELINE_SECRET_KEY: SECRET_KEY,
      PHASELINE_ROLES: 'gateway,engine',
      PHASELINE_ALLOWED_HOSTS: '127.0.0.1',
      PHASELINE_LOG_LEVEL: 'error',
      PHASELINE_MAX_WORKERS: String(MAX_WORKERS),
      PHASELINE_CLEANUP_DELAY_MS: '300',
      // Ends an item that was asked to stop while nobody has it; by default it takes longer than a run waits for a change.
      PHASELINE_ABORTING_TIMEOUT_MS: '30000',
      PHASELINE_CRM_SILENCE_MS: '15000',
      PHASELINE_DATABASE_SILENCE_MS: '2000',
      PHASELINE_NOTIFICATION_NETWORKS: '127.0.0.1',
    },
  })
}
const PRESENT = join(import.meta.dirname, '../../src/cli/main.ts')

const tokenOf = async (
  client: Client,
  actor: 'DEPLOYER' | 'RUNTIME' | 'GADGET_RUNNER' | 'CRM',
  type: string,
  targets?: readonly string[],
): Promise<string> => {
  const input = {
    name: actor.toLowerCase(),
    role: 'AGENT',
    actor,
    types: [type],
    ...(targets && { targets: [...targets] }),
  } as const
  return (await ask(client, MUTATIONS.createToken, input)).secret
}
