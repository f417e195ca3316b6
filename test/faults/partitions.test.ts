import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Client, createClient, type PhaseChange } from '../../src/client/index.ts'
import { ask } from '../testkit/ask.ts'
import { MUTATIONS } from '../testkit/documents.ts'
import { gql } from '../testkit/gql.ts'
import { expectLegal } from '../testkit/legal-log.ts'
import { createNetwork, hasNamespaces, type Machine, type Network } from '../testkit/network.ts'
import { createTestDatabase } from '../testkit/postgres.ts'
import { startRedis } from '../testkit/redis.ts'
import { SECRET_KEY, startServer, type TestServer } from '../testkit/server.ts'
import { soak } from '../testkit/soak.ts'
import { until } from '../testkit/wait.ts'

/**
 * Two gateways, two engines and two deployers on machines with addresses of their own, around one Postgres and one Redis. The
 * router between them drops the packets of one pair at a time: the kernels find out, or do not, as in a real network.
 */

const MACHINES = ['gateway-1', 'gateway-2', 'engine-1', 'engine-2', 'deployer-1', 'deployer-2'] as const
const HERE = ['user', 'postgres', 'redis'] as const
type Place = (typeof MACHINES)[number] | (typeof HERE)[number]
const PAIRS = [
  ['gateway-1', 'postgres', 'both'],
  ['gateway-2', 'redis', 'both'],
  ['engine-1', 'postgres', 'both'],
  ['postgres', 'engine-2', 'one'],
  ['engine-2', 'redis', 'both'],
  ['deployer-1', 'gateway-1', 'both'],
  ['gateway-2', 'deployer-2', 'one'],
  ['user', 'gateway-2', 'both'],
  ['gateway-1', 'user', 'one'],
] as const satisfies readonly (readonly [Place, Place, 'both' | 'one'])[]

const TOKEN = 'a-token-of-the-administrator'
/** Longer than it takes to find a silence out. */
const HELD_MS = soak(4_000, 30_000)
/** Longer than a lease of the deployers: the work of one that is cut off is given to the other one. */
const HELD_FROM_AGENTS_MS = soak(7_500, 30_000)
const DEADLINES = {
  PHASELINE_DATABASE_SILENCE_MS: '1000',
  PHASELINE_DATABASE_CONNECT_TIMEOUT_MS: '1000',
  PHASELINE_DATABASE_POOL_TIMEOUT_MS: '2000',
}
const STATE = gql('{ log { head } objects(first: 500, filter: { rootsOnly: true }) { edges { node { name phase } } } }')
/** A machine that stands still for a moment is as silent as a partition: the question is asked again. */
const stateBy = (client: Client) => until(() => client.query(STATE).catch(() => null), { what: 'a gateway answers' })

/** Null: no answer comes. */
const readiness = ({ origin }: TestServer): Promise<number | null> =>
  fetch(`${origin}/readyz`, { signal: AbortSignal.timeout(2_000) }).then(
    ({ status }) => status,
    () => null,
  )

const stack = new AsyncDisposableStack()
afterAll(() => stack.disposeAsync())

/** The machine of a server that this process runs: it takes connections there, and passes them on. */
async function relay(host: string, target: string | number): Promise<number> {
  const server = createServer({ noDelay: true }, (client) => {
    const upstream = typeof target === 'string' ? connect(target) : connect(target, '127.0.0.1')
    client.on('error', () => upstream.destroy()).pipe(upstream)
    upstream.on('error', () => client.destroy()).pipe(client)
    client.once('close', () => upstream.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, host, resolve))
  stack.defer(() => void server.close())
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port was given')
  return address.port
}

function startDeployer({ enter }: Machine, env: Readonly<Record<string, string>>): void {
  const [command = '', ...args] = [
    ...enter,
    process.execPath,
    join(import.meta.dirname, '../chaos/deployer-process.ts'),
  ]
  const child: ChildProcess = spawn(command, args, {
    env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE, ...env },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  stack.defer(async () => {
    const ended = once(child, 'exit')
    child.kill('SIGTERM')
    await ended
  })
}

describe.skipIf(!hasNamespaces())('partitions', () => {
  let network: Network<(typeof MACHINES)[number], (typeof HERE)[number]>
  let folder: string
  const servers = new Map<Place, TestServer>()
  const clients: Client[] = []
  const heard: PhaseChange[][] = []
  let trees = 0

  beforeAll(async () => {
    network = stack.use(await createNetwork(MACHINES, HERE))
    folder = stack.adopt(await mkdtemp(join(tmpdir(), 'phaseline-partitions-')), (path) =>
      rm(path, { recursive: true }),
    )
    await mkdir(join(folder, 'installed'))
    const { connection } = stack.use(await createTestDatabase(2))
    const redis = stack.use(await startRedis())
    const { machines, here } = network
    const postgresPort = await relay(here.postgres, `${connection.host}/.s.PGSQL.${connection.port}`)
    const redisPort = await relay(here.redis, Number(new URL(redis.url).port))
    const shared = {
      ...DEADLINES,
      DATABASE_URL: `postgresql://${connection.user}@${here.postgres}:${postgresPort}/${connection.database}`,
      REDIS_URL: `redis://${here.redis}:${redisPort}`,
      PHASELINE_SECRET_KEY: SECRET_KEY,
    }
    for (const name of ['gateway-1', 'gateway-2', 'engine-1', 'engine-2'] as const) {
      const machine = machines[name]
      const isGateway = name.startsWith('gateway')
      const port = { PHASELINE_ADMIN_PORT: '4000', PHASELINE_ADMIN_HOST: machine.address }
      const env = { ...shared, PHASELINE_ROLES: isGateway ? 'gateway' : 'engine', ...(isGateway ? {} : port) }
      const server = stack.use(await startServer({ token: TOKEN, env, machine }))
      servers.set(name, server)
      if (isGateway) clients.push(stack.use(createClient({ url: server.url, token: TOKEN, timeoutMs: 2_000 })))
    }
    const [client] = clients as [Client]
    const { secret } = await ask(client, MUTATIONS.createToken, { name: 'deployer', role: 'AGENT', types: ['chaos'] })
    for (const n of [1, 2] as const) {
      const env = {
        ...{ CHAOS_URL: `http://${machines[`gateway-${n}`].address}:4000/graphql`, CHAOS_TOKEN: secret },
        ...{ CHAOS_FOLDER: folder, CHAOS_NAME: `deployer-${n}` },
      }
      startDeployer(machines[`deployer-${n}`], env)
    }
    const stop = new AbortController()
    stack.defer(() => stop.abort())
    for (const each of clients) {
      const own: PhaseChange[] = []
      heard.push(own)
      const reading = (async () => {
        for await (const { changes } of each.followPhases({ after: 0, signal: stop.signal })) own.push(...changes)
      })()
      reading.catch(() => undefined)
    }
  }, 120_000)

  /** By whatever gateway answers, as a user does who has two of them. */
  async function create(): Promise<void> {
    const name = `tree-${trees++}`
    const config = { ms: 50 }
    const deployItems = [
      { name: 'first', type: 'chaos', config },
      { name: 'second', type: 'chaos', config, dependsOn: ['first'] },
    ]
    const input = { name, spec: { deployItems }, idempotencyKey: name }
    for (let attempt = trees; ; attempt++) {
      const client = clients[attempt % clients.length] as Client
      const isAnswered = await ask(client, MUTATIONS.createInstallation, input).then(
        () => true,
        () => false,
      )
      if (isAnswered) return
      await delay(100)
    }
  }
  const unfinished = async (client: Client): Promise<readonly string[]> => {
    const { objects } = await stateBy(client)
    const phases = new Map(objects?.edges.map(({ node }) => [node.name, node.phase]))
    return Array.from({ length: trees }, (_, i) => `tree-${i}`).filter((name) => phases.get(name) !== 'SUCCEEDED')
  }

  test.each(PAIRS)('nothing from %s reaches %s; directions: %s', async (from, to, directions) => {
    const isOfAgents = from.startsWith('deployer') || to.startsWith('deployer')
    const healedAt = performance.now() + (isOfAgents ? HELD_FROM_AGENTS_MS : HELD_MS)
    const partition = await network.partition(from, to, directions)
    // A server without Postgres is not ready; one without users is unreachable.
    const server = servers.get(from) ?? servers.get(to)
    if (from === 'postgres' || to === 'postgres')
      await until(async () => server && (await readiness(server)) === 503, { what: 'it is not ready' })
    if (from === 'user' || to === 'user') expect(server && (await readiness(server))).toBeNull()
    for (let made = 0; made < 5 || performance.now() < healedAt; made++) {
      await create()
      await delay(100)
    }
    await partition[Symbol.asyncDispose]()
    for (const [name, server] of servers)
      await until(async () => (await readiness(server)) === 200, { what: `${name} is ready` })
    await create()
    for (const client of clients)
      await until(async () => (await unfinished(client)).length === 0, {
        what: 'each tree has succeeded',
        instead: () => unfinished(client),
      })
  })

  test('readers have the whole log, and no work was done twice', async () => {
    const [client] = clients as [Client]
    const { log, objects } = await stateBy(client)
    for (const changes of heard) {
      await until(() => changes.at(-1)?.sequence === log?.head, { what: 'a reader has all of it' })
      expectLegal(changes)
    }
    // A tree whose creation was repeated by another gateway is one tree.
    expect(objects?.edges.length).toBe(trees)
    const spans = new Map<string, { objectId: string; fromMs: number; toMs?: number }>()
    for (const line of (await readFile(join(folder, 'spans'), 'utf8')).trimEnd().split('\n')) {
      const { span, ...rest } = JSON.parse(line)
      spans.set(span, { ...spans.get(span), ...rest })
    }
    const ordered = [...spans.values()].toSorted((a, b) => a.fromMs - b.fromMs)
    const endOf = new Map<string, number>()
    for (const { objectId, fromMs, toMs = Number.POSITIVE_INFINITY } of ordered) {
      expect(fromMs, `work of ${objectId} by two at a time`).toBeGreaterThanOrEqual(endOf.get(objectId) ?? 0)
      endOf.set(objectId, toMs)
    }
    expect(endOf.size).toBe(2 * trees)
  })
})
