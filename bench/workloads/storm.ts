import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { BenchContext, Section, Workload } from '../harness.ts'
import { disconnect, forkModule } from '../processes.ts'
import { startPhaseline, startWriter } from './fan-out-contestants.ts'
import { newRoots } from './fan-out-publisher.ts'
import { startMortalRedis } from './storm-redis.ts'
import type { StormCommand, StormCounts, StormOpening } from './storm-subscribers.ts'

interface StormResult extends StormCounts {
  readonly changes: number
  /** From the first change to the last, and to the last subscriber that has seen them all. */
  readonly writtenMs: number
  readonly ms: number
}
interface StormSize {
  readonly subscribers: number
  readonly changes: number
  readonly perSecond: number
  /** How often each subscriber is cut off. */
  readonly cuts: number
}

const STORM: StormSize = { subscribers: 500, changes: 20_000, perSecond: 1_000, cuts: 4 }
const TREES = 20
const LIMIT_MS = 300_000
/** Shares of the writing time at which the gateway dies and returns, and Redis does. */
const SCRIPT = { gatewayDies: 0.3, gatewayIsBack: 0.45, redisDies: 0.6, redisIsBack: 0.65 }

export const workload: Workload = { name: 'storm', run }

async function run({ postgres, log }: BenchContext): Promise<Section> {
  const result = await runStorm(await postgres.createDatabase('storm'), STORM)
  for (const problem of result.problems) log(`  ${problem}`)
  const lag = result.ms - result.writtenMs
  return {
    title: 'storm: everybody is cut off, again and again',
    prose: PROSE,
    table: {
      columns: ['', ''],
      rows: [
        ['subscribers, changes', `${result.done}, ${result.changes}`],
        ['changes delivered to all together', String(result.received)],
        ['gaps', String(result.gaps)],
        ['repetitions, or out of order', String(result.duplicates)],
        ['other problems', String(result.problems.length)],
        ['subscribers cut off', String(result.cuts)],
        ['reconnections', String(result.reconnections)],
        ['attempts that met nobody', String(result.refused)],
        ['seconds of writing', (result.writtenMs / 1_000).toFixed(1)],
        ['seconds until the last one had heard everything', (result.ms / 1_000).toFixed(1)],
      ],
    },
    ratios: [`The last subscriber had everything ${(lag / 1_000).toFixed(1)} s after the last change was written.`],
  }
}

const PROSE = `
${STORM.subscribers} subscribers follow the whole log, four in five in batches (\`phaseLog\`), the others change by change, over two
gateways, while ${STORM.changes.toLocaleString('en-US')} changes are written, ${STORM.perSecond.toLocaleString('en-US')} a second. Each is cut off about ${STORM.cuts} times at random moments,
without a close, and resumes after the last sequence that it has seen on either gateway. At 30% one gateway gets kill -9
and comes back at 45%; at 60% Redis gets kill -9 and comes back empty at 65%. Each subscriber must see 1, 2, 3 … to the end.
`

/** Two gateways, one Postgres, one Redis; one gateway and Redis die in the middle, and every subscriber again and again. */
async function runStorm(databaseUrl: string, size: StormSize): Promise<StormResult> {
  await using redis = await startMortalRedis()
  const places = { databaseUrl, redisUrl: redis.url }
  await using stays = await startPhaseline(places)
  await using stack = new AsyncDisposableStack()
  const dies = await startPhaseline(places)
  await using writer = await startWriter('phaseline', places, newRoots(TREES))
  const writingMs = (size.changes / size.perSecond) * 1_000
  const opening: StormOpening = {
    ports: [stays.port, dies.port],
    token: stays.token ?? '',
    subscribers: size.subscribers,
    through: size.changes,
    cuts: size.cuts,
    withinMs: writingMs,
  }
  await using storm = startSubscribers(opening)
  await storm.until(({ connected }) => connected === size.subscribers)
  const since = performance.now()
  storm.cut()
  const written = writer.rate(size.perSecond, size.changes).then(() => performance.now() - since)
  const at = (share: number): Promise<void> => delay(Math.max(0, since + share * writingMs - performance.now()))
  await at(SCRIPT.gatewayDies)
  await dies.kill()
  await at(SCRIPT.gatewayIsBack)
  stack.use(await startPhaseline(places, dies.port))
  await at(SCRIPT.redisDies)
  await redis.kill()
  await at(SCRIPT.redisIsBack)
  await redis.start()
  const writtenMs = await written
  const counts = await storm.until(({ done }) => done === size.subscribers)
  return { ...counts, changes: size.changes, writtenMs, ms: performance.now() - since }
}

interface Storm extends AsyncDisposable {
  cut(): void
  /** Throws when it takes too long. */
  until(condition: (counts: StormCounts) => boolean): Promise<StormCounts>
}

function startSubscribers(opening: StormOpening): Storm {
  const launched = forkModule(join(import.meta.dirname, 'storm-subscribers.ts'))
  const { child } = launched
  const send = (command: StormCommand): void => void child.send(command)
  send({ type: 'open', opening })
  return {
    cut: () => send({ type: 'cut' }),
    async until(condition) {
      const signal = AbortSignal.timeout(LIMIT_MS)
      for (let last: StormCounts | null = null; ; ) {
        try {
          last = (await once(child, 'message', { signal }))[0] as StormCounts
        } catch (error) {
          throw new Error(`the storm did not end: ${JSON.stringify(last)}`, { cause: error })
        }
        if (condition(last)) return last
      }
    },
    [Symbol.asyncDispose]: () => disconnect(launched),
  }
}
