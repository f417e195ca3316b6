import { randomBytes } from 'node:crypto'
import { cpuOfTree, postmasterOf } from './cpu.ts'
import { type BenchContext, type BenchServer, startRedis, startServer } from './harness.ts'
import { writtenTo } from './postgres.ts'

/** Each part has its own count of processor time. */
export const PARTS = ['gateway', 'engines', 'Postgres', 'agent'] as const
export type Part = (typeof PARTS)[number]
export type Costs = Readonly<Record<Part, number>>

/** One gateway, several engines, the mock agent, each a process of its own, with Postgres and Redis between them. */
export interface Fleet extends AsyncDisposable {
  readonly gateway: BenchServer
  /** Milliseconds of processor time so far. */
  cpu(): Costs
  /** Bytes so far. */
  written(): ReturnType<typeof writtenTo>
}

export async function startFleet({ postgres }: BenchContext, engines: number): Promise<Fleet> {
  await using starting = new AsyncDisposableStack()
  const databaseUrl = await postgres.createDatabase(`engines_${engines}`)
  const { url: redisUrl } = starting.use(await startRedis({ aof: 'no' }))
  const token = randomBytes(24).toString('base64url')
  const env = { PHASELINE_SECRET_KEY: randomBytes(32).toString('base64') }
  const shared = { databaseUrl, redisUrl, token }
  const gateway = starting.use(await startServer({ ...shared, roles: ['gateway'], env }))
  const running: BenchServer[] = []
  for (let i = 0; i < engines; i++) running.push(starting.use(await startServer({ ...shared, roles: ['engine'], env })))
  const agentEnv = { ...env, PHASELINE_URL: `${gateway.origin}/graphql` }
  const agent = starting.use(await startServer({ ...shared, roles: ['agents'], env: agentEnv }))
  const postmaster = await postmasterOf(postgres.url)
  const all = starting.move()
  return {
    gateway,
    cpu: () => ({
      gateway: cpuOfTree(gateway.pid),
      engines: running.reduce((sum, { pid }) => sum + cpuOfTree(pid), 0),
      Postgres: cpuOfTree(postmaster),
      agent: cpuOfTree(agent.pid),
    }),
    written: () => writtenTo(databaseUrl),
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  }
}

export const subtract = (after: Costs, before: Costs): Costs =>
  Object.fromEntries(PARTS.map((part) => [part, after[part] - before[part]])) as Costs
export const total = (costs: Costs): number => PARTS.reduce((sum, part) => sum + costs[part], 0)
