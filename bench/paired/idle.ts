import { setTimeout as delay } from 'node:timers/promises'
import { cpuOf, cpuOfTree, memoryOf } from '../cpu.ts'
import { startServer } from '../harness.ts'
import { countStatements, readStatements, startCountingPostgres } from '../statements.ts'
import type { Figures, Measure, Turn } from './turn.ts'

/** A start and what follows it once are over by then. */
const SETTLE_MS = 60_000
const MEASURED_MS = 120_000
/** Statements that are called less often in a second are not listed. */
const LEAST_CALLS = 0.06

const SERVERS = [
  { name: 'all' },
  { name: 'gateway', roles: ['gateway'] },
  { name: 'engine', roles: ['engine'] },
] as const
type Resting = Awaited<ReturnType<typeof start>>

/** Servers that nobody asks anything, at the same time, each with a Postgres of its own. */
export const measure: Measure = async (turn) => {
  await using stack = new AsyncDisposableStack()
  const resting: Resting[] = []
  // One after the other: a process that starts takes a whole processor.
  for (const server of SERVERS) resting.push(await start(stack, turn, server))
  await delay(SETTLE_MS)
  return Object.assign({}, ...(await Promise.all(resting.map(measureOne)))) as Figures
}

async function start(
  stack: AsyncDisposableStack,
  { checkout, env, redisUrl }: Turn,
  { name, ...roles }: { readonly name: string; readonly roles?: readonly ('gateway' | 'engine')[] },
) {
  const postgres = stack.use(await startCountingPostgres())
  const databaseUrl = await postgres.createDatabase('idle')
  const shared = roles.roles ? { ...roles, redisUrl } : {}
  const server = stack.use(await startServer({ checkout, env, databaseUrl, isUncounted: true, ...shared }))
  return { name, pid: server.pid, databaseUrl }
}

async function measureOne({ name, pid, databaseUrl }: Resting): Promise<Figures> {
  await countStatements(databaseUrl)
  const [own, all, since] = [cpuOf(pid), cpuOfTree(pid), performance.now()]
  await delay(MEASURED_MS)
  const ms = performance.now() - since
  const figures = {
    'CPU, %': (100 * (cpuOf(pid) - own)) / ms,
    'CPU with its agents and sandbox, %': (100 * (cpuOfTree(pid) - all)) / ms,
    'memory, MB': memoryOf(pid) / 2 ** 20,
  }
  const statements = (await readStatements(databaseUrl)).filter(({ isNested }) => !isNested)
  const perSecond = (calls: number): number => (calls * 1_000) / ms
  const often = statements.filter(({ calls }) => perSecond(calls) >= LEAST_CALLS).sort((a, b) => b.calls - a.calls)
  const byStatement = Object.fromEntries(
    often.map((statement) => [`${statement.name}, a second`, perSecond(statement.calls)]),
  )
  const total = perSecond(statements.reduce((sum, { calls }) => sum + calls, 0))
  return Object.fromEntries(
    Object.entries({ ...figures, 'statements, a second': total, ...byStatement }).map(([figure, value]) => [
      `${name}: ${figure}`,
      value,
    ]),
  )
}
