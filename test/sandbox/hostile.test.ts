import { type ChildProcess, spawn } from 'node:child_process'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { failureOf } from '../../src/graphql/schema/failures.ts'
import { createSandbox, SandboxBusy } from '../../src/sandbox/index.ts'
import { until } from '../testkit/wait.ts'
import { e } from './expressions.ts'

const sandbox = createSandbox()
const numbers = Array.from({ length: 5_000 }, (_, i) => i)
const big = 'x'.repeat(200_000)
const imports = { numbers, big, few: Array(1_200).fill(1), digits: '9'.repeat(3_000_000) }
const chain = (start: string, step: string, times: number) => start + `.map(a, ${step})`.repeat(times)

beforeAll(() => sandbox.analyze(['1']))
afterAll(() => sandbox[Symbol.asyncDispose]())

/** An expression that is not contained takes forever; containing one takes 0.3 to 0.7 s on a quiet machine. */
const LIMIT_MS = 30_000

/** A hostile job is soon refused or stopped, and honest jobs before and behind it are not affected. */
async function expectContained(source: string, message: RegExp): Promise<void> {
  const began = performance.now()
  const results = await sandbox.resolve([
    { template: e('1 + 1'), scope: {} },
    { template: e(source), scope: { imports } },
    { template: e('2 + 2'), scope: {} },
  ])
  const took = performance.now() - began
  expect(results).toMatchObject([
    { ok: true, value: 2 },
    { ok: false, message: expect.stringMatching(message) },
    { ok: true, value: 4 },
  ])
  expect(took).toBeLessThan(LIMIT_MS)
}

const TIME = /^it took more than 100 ms$/
const LIMIT = /100 ms|64 MB/

describe('hostile expressions', () => {
  test.each<[string, string, RegExp]>([
    ['a loop in a loop', 'imports.numbers.exists(a, imports.numbers.exists(b, a * b == -1))', TIME],
    ['nested macros that fill the memory', 'imports.numbers.map(a, imports.numbers.map(b, [a, b, a, b]))', LIMIT],
    ['lists doubled again and again', `${chain('[imports.numbers]', 'a + a', 30)}[0].map(x, x)`, LIMIT],
    ['a result that unfolds', chain('[imports.few]', '{"a": a, "b": a}', 30), /the result is larger than|100 ms/],
    ['text doubled again and again', chain('[imports.big]', 'a + a', 30), /grew beyond|100 ms/],
    ['bytes doubled again and again', chain('[bytes(imports.big)]', 'a + a', 30), /grew beyond|100 ms/],
    ['one allocation larger than the heap', 'imports.few.map(a, imports.big).join(imports.big).size()', LIMIT],
    ['a replacement of everything by everything', 'imports.big.replace("x", imports.big)', LIMIT],
    ['a function that nothing can interrupt', 'int(imports.digits)', LIMIT],
    ['a regular expression as large as can be', `imports.big.matches("${'\\\\pL'.repeat(4_000)}")`, LIMIT],
    ['a hundred thousand brackets', '('.repeat(60_000), /nested too deep|100 ms/],
    ['a long sum', `1${'+1'.repeat(30_000)}`, /more than 500 syntax nodes|100 ms/],
    ['a long path', `imports${'.a'.repeat(30_000)}`, /nested too deep|more than 500 syntax nodes|100 ms/],
  ])('%s', async (_, source, message) => {
    await expectContained(source, message)
  })

  test('catastrophic backtracking: linear in expressions, stopped in schemas', async () => {
    const evil = `${'a'.repeat(40)}!`
    const [matched] = await sandbox.resolve([
      { template: e('imports.evil.matches("^(a+)+$")'), scope: { imports: { evil } } },
    ])
    expect(matched).toEqual({ ok: true, value: false })
    const began = performance.now()
    const results = await sandbox.validate([
      { schema: { pattern: '^(a+)+$' }, value: evil },
      { schema: { pattern: '^a+$' }, value: 'aaa' },
    ])
    expect(results).toEqual([{ ok: false, message: expect.stringMatching(TIME) }, { ok: true }])
    expect(performance.now() - began).toBeLessThan(LIMIT_MS)
  })
})

test('only the hostile among many fail, and a hostile batch does not starve the batches behind it', async () => {
  const loop = e('imports.numbers.exists(a, imports.numbers.exists(b, a * b == -1))')
  const scope = { imports }
  const order: string[] = []
  const mixed = Array.from({ length: 60 }, (_, i) => ({ template: i % 20 === 10 ? loop : e(`${i} + 1`), scope }))
  const hostile = sandbox.resolve(mixed).then((results) => {
    order.push('hostile')
    return results
  })
  const honest = sandbox.resolve([{ template: e('40 + 2'), scope: {} }]).then((results) => {
    order.push('honest')
    return results
  })
  expect(await honest).toEqual([{ ok: true, value: 42 }])
  for (const [i, result] of (await hostile).entries()) {
    expect(result).toEqual(
      i % 20 === 10 ? { ok: false, message: expect.stringMatching(TIME) } : { ok: true, value: i + 1 },
    )
  }
  expect(order).toEqual(['honest', 'hostile'])
})

test('the hostile jobs of one owner do not delay those of others', async () => {
  const stopped: object[] = []
  await using own = createSandbox({ logger: { warn: (fields) => void stopped.push(fields) } })
  const evil = { schema: { pattern: '^(a+)+$' }, value: `${'a'.repeat(40)}!` }
  // Three calls stand for three trees.
  const hostile = [1, 2, 3].map(() => own.validate(Array(2).fill(evil), 'hostile'))
  const ended = Promise.allSettled(hostile)
  await until(() => stopped.length > 0, { what: 'the first is stopped' })
  for (let i = 0; i < 10; i++)
    expect(await own.resolve([{ template: e('40 + 2'), scope: {} }], 'honest')).toEqual([{ ok: true, value: 42 }])
  // In one queue each honest job would wait for a hostile one of each call.
  expect(stopped.length).toBeLessThan(10)
  // One at a time, the others are to come again.
  const outcomes = (await ended).map((call) => (call.status === 'fulfilled' ? call.value : call.reason))
  expect(outcomes.filter((outcome) => outcome instanceof SandboxBusy)).toMatchObject([{ waiting: 1 }, { waiting: 1 }])
  expect(outcomes.flat().filter(({ ok }) => ok)).toEqual([])
  // They pause after each that is stopped, so that the machine is not kept busy by them.
  const since = performance.now()
  await own.validate([evil, evil], 'hostile')
  expect(performance.now() - since).toBeGreaterThan(1_500)
})

test('many jobs that are slow, and not too slow, do not delay those of others', async () => {
  await using own = createSandbox()
  // Ten fill a turn on a machine three times as fast, too, and none takes the whole limit on one six times as slow.
  const scope = { imports: { numbers: Array.from({ length: 100 }, (_, i) => i) } }
  const slow = e('imports.numbers.exists(a, imports.numbers.exists(b, a * b == -1))')
  let done = 0
  const calls = Promise.allSettled(
    [1, 2].map(async () => {
      const results = await own.resolve(Array(300).fill({ template: slow, scope }), 'slow')
      done += 1
      return results
    }),
  )
  for (let i = 0; i < 10; i++)
    expect(await own.resolve([{ template: e('40 + 2'), scope: {} }], 'honest')).toEqual([{ ok: true, value: 42 }])
  expect(done).toBe(0)
  const outcomes = await calls
  expect(outcomes.flatMap((call) => (call.status === 'fulfilled' ? call.value : []))).toEqual(
    Array(300).fill({ ok: true, value: false }),
  )
  expect(outcomes.flatMap((call) => (call.status === 'rejected' ? [call.reason] : []))).toMatchObject([
    { name: 'Busy', waiting: 1 },
  ])
})

test('thousands of small templates in one call keep their order, with several workers too', async () => {
  await using two = createSandbox({ workers: 2 })
  const scope = { imports: { host: 'h', port: 80 } }
  const jobs = Array.from({ length: 5_000 }, (_, i) => ({
    template: { url: `${e('imports.host')}:${e('imports.port')}/${i}` },
    scope,
  }))
  const results = await two.resolve(jobs)
  expect(results.map((r) => r.ok && r.value)).toEqual(jobs.map((_, i) => ({ url: `h:80/${i}` })))
})

test.each(['started', 'fresh'])('closing a %s sandbox ends what runs and refuses what comes', async (state) => {
  const closing = createSandbox()
  if (state === 'started') await closing.analyze(['1'])
  const loop = e('imports.numbers.map(a, imports.numbers.map(b, a))')
  const ended = expect(closing.resolve([{ template: loop, scope: { imports } }])).rejects.toThrow('closed')
  await closing[Symbol.asyncDispose]()
  await ended
  await expect(closing.analyze(['1'])).rejects.toThrow('closed')
})

test.runIf(process.platform === 'linux')('a worker killed from outside costs no result', async () => {
  await using own = createSandbox()
  await own.analyze(['1'])
  const before = await childrenOf(process.pid)
  const jobs = Array.from({ length: 3_000 }, (_, i) => ({
    template: e(`imports.n + ${i}`),
    scope: { imports: { n: i } },
  }))
  const running = own.resolve(jobs)
  process.kill(Math.max(...before), 'SIGKILL')
  expect((await running).map((r) => r.ok && r.value)).toEqual(jobs.map((_, i) => 2 * i))
  expect(await childrenOf(process.pid)).not.toEqual(before)
})

test('an expression whose workers are killed from outside is not wrong: the caller tries again', async () => {
  await using own = createSandbox()
  const kill = (message: unknown) => {
    const { process: worker } = message as { readonly process: ChildProcess }
    worker.once('message', () => worker.kill('SIGKILL'))
  }
  subscribe('child_process', kill)
  const error = await own.analyze(['1']).catch((thrown: unknown) => thrown)
  unsubscribe('child_process', kill)
  expect(error).toBeInstanceOf(SandboxBusy)
  // Nobody counts what else keeps the machine busy.
  expect(failureOf(error as SandboxBusy)?.extensions).toEqual({ code: 'BUSY', retryable: true, retryAfterMs: 1_000 })
  expect(await own.analyze(['1'])).toEqual([{ ok: true, references: [] }])
})

test.runIf(process.platform === 'linux')(
  'an idle sandbox lets its process end; a killed process leaves no worker behind',
  async () => {
    const script = (after: string) =>
      `import { createSandbox } from './src/sandbox/index.ts'
     const sandbox = createSandbox()
     await sandbox.analyze(['1'])
     console.log('ready')
     ${after}`
    const run = (after: string) =>
      spawn(process.execPath, ['--input-type=module-typescript', '-e', script(after)], {
        stdio: ['ignore', 'pipe', 'inherit'],
      })

    const idle = run('')
    expect(await once(idle, 'exit')).toEqual([0, null])

    const endless = 'const l = Array.from({ length: 3e4 }, (_, i) => i);'
    const source = e('imports.l.exists(a, imports.l.exists(b, a * b == -1))')
    const busy = run(`${endless} sandbox.resolve([{ template: '${source}', scope: { imports: { l } } }])`)
    await once(busy.stdout, 'data')
    const worker = Math.max(...(await childrenOf(busy.pid ?? 0)))
    expect(worker).toBeGreaterThan(0)
    busy.kill('SIGKILL')
    await once(busy, 'exit')
    await until(() => !isAlive(worker), { what: 'the worker has ended itself' })
  },
)

/** The worker of a sandbox is the youngest of them. */
async function childrenOf(pid: number): Promise<number[]> {
  const list = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')
  return list.trim().split(' ').filter(Boolean).map(Number)
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
