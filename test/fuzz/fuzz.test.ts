import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay, setImmediate } from 'node:timers/promises'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { until } from '../testkit/wait.ts'
import { caseOf, type FuzzCase } from './cases.ts'
import { defectIn } from './oracle.ts'
import { closeConnections, post, send } from './send.ts'
import { type Memory, startTarget, type Target } from './target.ts'

/**
 * Random requests to a server: whatever they are, it answers without a 5xx and without internals, logs no defect and lives
 * on. `npm run fuzz -- --seed 1 --cases 100000` runs more. A case that fails is shrunk and written to regressions/.
 */

const SEED = Number(process.env.FUZZ_SEED ?? 1)
const CASES = Number(process.env.FUZZ_CASES ?? 400)
/** Ends the warm-up of a long run, and the run, before all of their cases. */
const MINUTES = Number(process.env.FUZZ_MINUTES ?? 60)
const REGRESSIONS = join(import.meta.dirname, 'regressions')
const RENEW_EVERY = 200
const SHOW_EVERY = 5_000
const MOST_BYTES = 400
const MOST_SHRINKS = 300
const isLong = process.env.FUZZ_CASES !== undefined
/** Until the code is compiled and the cache of parsed documents (64 MiB), which is the largest, is full. */
const WARM_UP = Number(process.env.FUZZ_WARM_UP ?? (isLong ? 30_000 : 100))
/**
 * The growth from the half of a run to its end. Some bounded caches still fill after 100,000 cases: open work (10,000 items),
 * texts that are no documents (8 MiB), and the newest 20,000 and 60 blocks of 1,000 changes of the log. After a short
 * warm-up all of them grow.
 */
const MOST_GROWTH = isLong ? 1.07 : 1.5
/** The same of what is resident, of which a part belongs to no object. */
const MOST_RESIDENT_GROWTH = isLong ? 1.1 : 1.5

/** Bounds, per 100 answers, those to too many requests or to a wrong token, which test little. */
const MOST_DELAYED = 5

let target: Target
const counts = { answers: 0, delayed: 0 }
beforeAll(async () => {
  target = await startTarget()
})
afterAll(async () => {
  closeConnections()
  await target[Symbol.asyncDispose]()
})

/** The defect in the answers to a case; null: none. */
async function defectOf(one: FuzzCase): Promise<string | null> {
  try {
    const answers = await send(target, one)
    counts.answers += answers.length
    counts.delayed += answers.filter(({ status }) => status === 429).length
    const defect = answers.map(defectIn).find((found) => found !== null)
    if (defect) return defect
  } catch (error) {
    return String(error instanceof Error ? error.stack : error)
  }
  // Reads what was logged before the answer.
  for (let turn = 0; turn < 2; turn++) await setImmediate()
  const output = target.newOutput()
  return output === '' ? null : `it logs ${output.slice(0, 1_000)}`
}

const regressions = readdirSync(REGRESSIONS).filter((name) => name.endsWith('.json'))
test.each(regressions)('%s is answered', async (name) => {
  const one = JSON.parse(readFileSync(join(REGRESSIONS, name), 'utf8')) as FuzzCase
  expect(await defectOf(one)).toBeNull()
})

test(`${CASES} random cases are answered`, { timeout: 60_000 * (2 * MINUTES + 10) }, async () => {
  await check(WARM_UP, SEED, MINUTES)
  const before = await settledMemory()
  const startedAt = performance.now()
  const half = Math.ceil(CASES / 2)
  const triedFirst = await check(half, SEED + 1, MINUTES / 2)
  const between = await settledMemory()
  const tried = triedFirst + (await check(half, SEED + 2, MINUTES / 2))
  const seconds = (performance.now() - startedAt) / 1_000
  const viewer = await post(target.port, target.token('admin'), { query: '{ viewer { name } }' })
  expect(viewer).toMatchObject({ status: 200, text: expect.stringContaining('admin') })
  const after = await settledMemory()
  if (isLong)
    process.stdout.write(
      `${tried} cases of seed ${SEED} in ${Math.round(seconds)} s, ${Math.round(tried / seconds)} a second: no defect\n` +
        `${counts.delayed} of ${counts.answers} answers: too often\n` +
        `memory: ${megabytes(before)} after ${WARM_UP} cases; ${megabytes(between)} after ${triedFirst} more; ` +
        `${megabytes(after)} at the end\n`,
    )
  expect((100 * counts.delayed) / counts.answers).toBeLessThan(MOST_DELAYED)
  expect(after.used).toBeLessThan(between.used * MOST_GROWTH)
  expect(after.rss).toBeLessThan(between.rss * MOST_RESIDENT_GROWTH)
})

/** Once it rests: what runs late has ended, and two readings in a row say the same. */
async function settledMemory(): Promise<Memory> {
  let last = await target.memory()
  return await until(
    async () => {
      const before = last
      await delay(REST_MS)
      last = await target.memory()
      return Math.abs(last.used - before.used) < before.used * SETTLED ? last : null
    },
    { what: 'the memory rests' },
  )
}
const SETTLED = 0.002
const REST_MS = 1_000

const megabytes = ({ used, rss }: Memory): string =>
  `${Math.round(used / 1e6)} MB in use, ${Math.round(rss / 1e6)} MB resident`

/** Returns how many cases there was time for. */
async function check(numRuns: number, seed: number, minutes: number): Promise<number> {
  const run = new FuzzRun()
  const bytes = fc.uint8Array({ maxLength: MOST_BYTES, size: 'max' })
  const property = fc.asyncProperty(bytes, (some) => run.try(caseOf(some)))
  const interruptAfterTimeLimit = minutes * 60_000
  const found = await fc.check(property, { seed, numRuns, interruptAfterTimeLimit })
  run.keepSmallest()
  expect(found.errorInstance ?? null).toBeNull()
  return found.numRuns
}

/** Tries cases one after the other, and remembers the smallest that fails. */
class FuzzRun {
  #tried = 0
  #failed = 0
  #smallest: FuzzCase | null = null

  async try(one: FuzzCase): Promise<void> {
    this.#tried += 1
    if (this.#tried % RENEW_EVERY === 0) await target.renew()
    if (this.#tried % SHOW_EVERY === 0)
      process.stdout.write(`${this.#tried} cases: ${megabytes(await target.memory())}\n`)
    // Shrinking a case that fails only sometimes would never end.
    if (this.#failed > 0 && ++this.#failed > MOST_SHRINKS) return
    const defect = await defectOf(one)
    if (defect === null) return
    this.#failed = Math.max(1, this.#failed)
    this.#smallest = one
    throw new Error(defect)
  }

  /** Makes a regression of it, which the suite runs from now on. */
  keepSmallest(): void {
    if (!this.#smallest) return
    const text = `${JSON.stringify(this.#smallest, null, 2)}\n`
    const name = `${this.#smallest.kind}-${createHash('sha256').update(text).digest('hex').slice(0, 8)}.json`
    writeFileSync(join(REGRESSIONS, name), text)
  }
}
