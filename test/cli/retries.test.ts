import { afterAll, beforeAll, expect, it } from 'vitest'
import { createClient, runAgent } from '../../src/client/index.ts'
import { parseManifests, writeManifest } from '../../src/manifest/index.ts'
import { startTestApp } from '../testkit/app.ts'
import { ask } from '../testkit/ask.ts'
import { MUTATIONS } from '../testkit/documents.ts'
import type { ReachableServer } from '../testkit/server.ts'
import { until } from '../testkit/wait.ts'
import { type CommandLine, commandLine, documents } from './command.ts'

let stack: AsyncDisposableStack
let server: ReachableServer
let phaseline: CommandLine
beforeAll(async () => {
  stack = new AsyncDisposableStack()
  server = stack.use(await startTestApp({ env: { PHASELINE_ROLES: 'gateway,engine' } }))
  phaseline = commandLine({ PHASELINE_URL: server.url, PHASELINE_TOKEN: server.token })
  const { secret } = await ask(server.client, MUTATIONS.createToken, {
    name: 'agent',
    role: 'AGENT',
    actor: 'DEPLOYER',
  })
  const ends = new AbortController()
  const client = stack.use(createClient({ url: server.url, token: secret }))
  const agent = runAgent({
    client,
    signal: ends.signal,
    types: ['flaky'],
    instance: 'box-1',
    // The first attempt of an item fails if its config says so.
    work: ({ config, attempt }) =>
      (config as { readonly fails?: true } | null)?.fails && attempt === 1
        ? { phase: 'FAILED', error: { code: 'FLAKY', message: 'The registry is away.' } }
        : { phase: 'SUCCEEDED' },
  })
  stack.defer(async () => {
    ends.abort()
    await agent
  })
})
afterAll(() => stack.disposeAsync())

/** Within the progressing timeout, or there would be no further attempt. */
const LONG = 300_000
const manifest = (name: string, retry: object, config: object = {}) =>
  JSON.stringify({ name, spec: { deployItems: [{ name: 'db', type: 'flaky', retry, config }] } })
const apply = async (name: string, retry: object, config?: object) =>
  expect(await phaseline('apply -f -', { stdin: manifest(name, retry, config) })).toMatchObject({ code: 0 })
const FAILS = { fails: true }
const item = (name: string) => `${name}/deploy-items/db`
/** With words of an attempt that has ended: an item is INIT before its first one, too. */
async function shownAt(name: string, phase: string, words = 'attempt '): Promise<string> {
  return await until(
    async () => {
      const { out } = await phaseline(`get ${item(name)}`)
      return new RegExp(`phase +\\S+ ${phase}`).test(out) && out.includes(words) ? out : null
    },
    { what: `${name} is ${phase}` },
  )
}

it('shows the attempts of an item, and begins the next one at once', async () => {
  await apply('shop', { attempts: 3, backoff: { initialMs: LONG } }, FAILS)
  const waiting = await shownAt('shop', 'INIT', 'FLAKY:')
  expect(waiting).toMatch(/attempt +1 of 3, by box-1, .*: FLAKY: The registry is away\.\n/)
  expect(waiting).toMatch(/attempt +2 of 3, not before 20\d\d-\S+ \(in \d/)
  expect(waiting).toMatch(/BACKOFF|backoff/)
  expect(waiting).toMatch(/you may +retryNow, giveUpRetries\n/)
  expect(await phaseline(`retry ${item('shop')} --now`)).toMatchObject({ code: 0 })
  const done = await shownAt('shop', 'SUCCEEDED')
  expect(done).toMatch(/attempt +2 of 3, by box-1, [^:]+\n/)
  expect((await phaseline(`retry ${item('shop')} --now`)).err).toContain('does not wait for a next attempt')
})

it('says why an attempt is the last one although the policy has more', async () => {
  await apply('spent-early', { attempts: 3, on: ['OTHER'] }, FAILS)
  const final = 'final \\(its policy does not retry FLAKY\\)'
  expect(await shownAt('spent-early', 'FAILED')).toMatch(
    new RegExp(`attempt +1 of 3, by box-1, \\S+, ${final}: FLAKY: The registry is away\\.\n`),
  )
  expect((await phaseline('get --failed')).out).toMatch(
    new RegExp(`spent-early/deploy-items/db.*: FLAKY: The registry is away\\. Attempt 1 of 3, ${final}\\.`),
  )
})

it('gives up, and the last failure is final', async () => {
  await apply('store', { attempts: 3, backoff: { initialMs: LONG } }, FAILS)
  await shownAt('store', 'INIT', 'FLAKY:')
  expect(await phaseline(`retry ${item('store')} --give-up`)).toMatchObject({ code: 0 })
  expect(await shownAt('store', 'FAILED')).toMatch(/error +FLAKY: The registry is away\.\n/)
})

it('keeps the policy in the spec, through export, edit and plan', async () => {
  const retry = { attempts: 4, backoff: { initialMs: 10 }, on: ['FLAKY'], not: ['OTHER'], attemptTimeoutMs: 60_000 }
  await apply('kept', retry)
  const written = { ...retry, backoff: { initialMs: 10, factor: 2, maxMs: 60_000, jitter: 0.5 } }
  const [shown] = documents((await phaseline('get kept --json')).out) as { spec: { deployItems: object[] } }[]
  expect(shown?.spec.deployItems).toMatchObject([{ retry: written }])
  // Written again as it is shown, it is the same spec.
  await apply('kept', written)
  const [again] = documents((await phaseline('get kept --json')).out) as { generation: number }[]
  expect(again?.generation).toBe(1)
  expect(await phaseline('apply -f -', { stdin: manifest('bad', { attempts: 0 }) })).toMatchObject({ code: 2 })
})

it('says when a root begins its next job by itself, and keeps that in the spec', async () => {
  const spec = {
    deployItems: [{ name: 'db', type: 'flaky', config: FAILS }],
    automaticReconcile: { afterFailure: { attempts: 3, intervalMs: LONG }, afterSuccess: { cron: '30 2 * * *' } },
  }
  // The agent fails each first claim of a job.
  expect(await phaseline('apply -f -', { stdin: JSON.stringify({ name: 'own', spec }) })).toMatchObject({ code: 0 })
  await until(async () => (await phaseline('get own')).out.includes('2 of 3 after a failure'), { what: 'it waits' })
  expect((await phaseline('get own')).out).toMatch(
    /next reconcile +20\d\d-\S+ \(in [^)]+\), 2 of 3 after a failure, by itself for admin\n/,
  )
  const [shown] = documents((await phaseline('get own --json')).out) as { spec: object }[]
  expect(shown?.spec).toMatchObject({
    automaticReconcile: {
      afterFailure: { attempts: 3, intervalMs: LONG, cron: [], timeZone: 'UTC' },
      afterSuccess: { intervalMs: null, cron: ['30 2 * * *'], timeZone: 'UTC' },
    },
  })
  // Written as it is shown, it is the same spec.
  const written = { name: 'own', spec: { ...spec, automaticReconcile: writtenOf(shown) } }
  expect(await phaseline('apply -f -', { stdin: JSON.stringify(written) })).toMatchObject({ code: 0 })
  const [again] = documents((await phaseline('get own --json')).out) as { generation: number }[]
  expect(again?.generation).toBe(1)
})
it('says that no further job begins by itself once those after a failure are used up', async () => {
  const spec = {
    deployItems: [{ name: 'db', type: 'flaky', config: FAILS }],
    automaticReconcile: { afterFailure: { attempts: 1, intervalMs: LONG } },
  }
  expect(await phaseline('apply -f -', { stdin: JSON.stringify({ name: 'spent', spec }) })).toMatchObject({ code: 0 })
  await until(async () => (await phaseline('runs spent')).out.match(/^\d+ +FAILED/gm)?.length === 2, {
    what: 'both have failed',
  })
  expect((await phaseline('get spent')).out).toMatch(
    /^next reconcile +not before another job has ended \(at most 1 after a failure\), by itself for admin$/m,
  )
})

/** As `edit` and the dashboard write it. */
const writtenOf = (shown: object | undefined): unknown => {
  const text = writeManifest({ ...NO_SETTINGS, ...(shown as { spec: object }), name: 'own', project: 'default' })
  const parsed = parseManifests(text)
  return parsed.ok ? parsed.manifests[0]?.spec.automaticReconcile : undefined
}
const NO_SETTINGS = { labels: [], description: '', ignored: false }

it('is for those who may change the tree', async () => {
  await apply('read', { attempts: 3, backoff: { initialMs: LONG } }, FAILS)
  await shownAt('read', 'INIT')
  const { secret } = await ask(server.client, MUTATIONS.createToken, { name: 'reader', role: 'READER' })
  const reader = commandLine({ PHASELINE_URL: server.url, PHASELINE_TOKEN: secret })
  expect((await reader(`retry ${item('read')} --now`)).err).toContain('may not retry')
})

it('says which job a cancel drops, and that the new spec has not run yet', async () => {
  const spec = (config: object) =>
    JSON.stringify({ name: 'held', spec: { deployItems: [{ name: 'db', type: 'nobody', config }] } })
  await phaseline('apply -f -', { stdin: spec({ size: 1 }) })
  await until(async () => (await phaseline('get held')).out.includes('PROGRESSING'), { what: 'its job runs' })
  await phaseline('apply -f -', { stdin: spec({ size: 2 }) })
  const { code, out } = await phaseline('cancel held --wait')
  expect(code).toBe(0)
  expect(out).toMatch(/^dropped: the STANDARD job that was to follow, .*`phaseline reconcile held` begins one\.$/m)
  expect((await phaseline('get held')).out).toMatch(/generation +2 \(not run yet: the last run used 1\), revision/)
  expect((await phaseline('log held')).out).toMatch(/reconcile dropped.*No job has used generation 2: reconcile it\./)
})
