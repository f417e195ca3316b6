import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Client } from '../../../src/client/index.ts'
import type { VariablesOf } from '../../../src/documents/typed-document.ts'
import { startHoldingProxy } from '../../faults/holding-proxy.ts'
import { startTestApp, type TestApp } from '../../testkit/app.ts'
import { ask, present } from '../../testkit/ask.ts'
import { createAuthority } from '../../testkit/certificates.ts'
import { MUTATIONS } from '../../testkit/documents.ts'
import { gql } from '../../testkit/gql.ts'
import { create, remove, show } from '../../testkit/mutations.ts'
import { copyDatabase, createTestDatabase } from '../../testkit/postgres.ts'
import { until } from '../../testkit/wait.ts'
import { type AgentProcessOptions, type Language, startAgentProcess } from './agent-process.ts'
import { startFailingServer } from './failing-server.ts'
import { startSwitchableProxy } from './switchable-proxy.ts'
import { VECTORS } from './vectors.ts'

/** The behaviour of every agent, whatever its language: docs/agent-protocol.md. Each case has a real server and real processes. */

type Item = VariablesOf<typeof MUTATIONS.createInstallation>['input']['spec']['deployItems'] extends infer L
  ? NonNullable<L> extends ReadonlyArray<infer I>
    ? NonNullable<I>
    : never
  : never
/** The steps of an item's work, as agent.ts reads them. */
type Steps = readonly (readonly [what: string, given?: unknown])[]

/** Proxies have ports of their own. */
const ENV = { PHASELINE_ROLES: 'gateway,engine', PHASELINE_ALLOWED_HOSTS: '127.0.0.1' }
const DONE: Steps = [['end', { phase: 'SUCCEEDED' }]]
const HOLDS: Steps = [['hold'], ...DONE]
/** Leases that end within a test. They are renewed ten times in that time. */
const SHORT = { leaseMs: 3_000, renewMs: 300 } as const

const ITEMS = gql(`query ($rootId: ID!) { tree(rootId: $rootId) { objects(first: 100) { edges { node {
  id name phase kind error { code message } progress { step value total }
  logs(first: 50) { edges { node { stream text } } }
  history(first: 50) { edges { node { to reason } } }
  ... on DeployItem { exports attempt }
} } } } }`)
const LOG = gql('{ log { head startCursor endCursor } }')

async function itemsOf(client: Client, rootId: string) {
  const { tree } = await client.query(ITEMS, { rootId })
  const nodes = tree?.objects.edges.map(({ node }) => node) ?? []
  return new Map(nodes.filter(({ kind }) => kind === 'DEPLOY_ITEM').map((node) => [node.name, node]))
}

let scenes = 0
/** A type of work for one test, and a token for it. */
async function openScene(language: Language, server: Pick<TestApp, 'client' | 'url'>) {
  scenes += 1
  const name = `scene-${scenes}`
  const { client, url } = server
  const token = { name, role: 'AGENT', actor: 'DEPLOYER', types: [name] } as const
  const { secret } = await ask(client, MUTATIONS.createToken, token)
  let rootId = ''
  const item = async (itemName: string) => present((await itemsOf(client, rootId)).get(itemName))
  return {
    name,
    token: secret,
    /** An installation with these items. */
    async offers(items: Readonly<Record<string, Steps>>, more: Partial<Item> & { readonly first?: Steps } = {}) {
      const { first, ...fields } = more
      const deployItems = Object.entries(items).map(([itemName, steps]) => ({
        ...{ name: itemName, type: name, config: { steps, ...(first && { first }) } },
        ...fields,
      }))
      rootId = await create(client, name, { deployItems })
      return rootId
    },
    start: (options: Partial<AgentProcessOptions> = {}) =>
      startAgentProcess(language, { url, token: secret, types: [name], ...options }),
    item,
    reaches: (itemName: string, phase: string) =>
      until(async () => (await item(itemName).catch(() => null))?.phase === phase, {
        what: `${itemName} is ${phase}`,
        instead: () => itemsOf(client, rootId).then((items) => [...items.values()]),
      }),
  }
}

export function conformance(language: Language): void {
  let server: TestApp
  beforeAll(async () => {
    server = await startTestApp({ env: ENV })
  })
  afterAll(() => server[Symbol.asyncDispose]())

  test('it claims work, and reports output, progress and the result', async () => {
    const scene = await openScene(language, server)
    await using agent = scene.start()
    await scene.offers({
      one: [
        ['log', 'the first'],
        ['report', { progress: { step: 'Half', value: 1, total: 2 } }],
        ['log', 'the second'],
        ['end', { phase: 'SUCCEEDED', exports: { port: 5432 }, message: 'It is there.' }],
      ],
    })
    expect(await agent.says({ event: 'begin' })).toMatchObject({ name: 'one', action: 'RECONCILE', attempt: 1 })
    await scene.reaches('one', 'SUCCEEDED')
    const { exports, progress, logs } = await scene.item('one')
    expect({ exports, progress }).toEqual({ exports: { port: 5432 }, progress: { step: 'Half', value: 1, total: 2 } })
    expect(logs.edges.map(({ node }) => `${node.stream} ${node.text}`)).toEqual([
      'STDERR the first',
      'STDERR the second',
    ])
  })

  test('it sends output before the end, and renews the lease until then', async () => {
    const scene = await openScene(language, server)
    await using proxy = await startHoldingProxy(server.url)
    const stopAt = (mutation: string) =>
      proxy.stopAt('REQUEST', ({ request }) => request.includes(`mutation ${mutation}(`))
    const [lines, report] = [stopAt('AppendLogs'), stopAt('Report')]
    await using agent = scene.start({ url: proxy.url })
    await scene.offers({ one: [['log', 'the last line'], ...DONE] })
    await agent.says({ event: 'end' })
    const renewal = stopAt('Renew')
    await until(() => renewal.holds && lines.holds, { what: 'it renews, and sends its output' })
    expect(report.holds).toBe(false)
    await Promise.all([renewal.letThrough(), lines.letThrough()])
    await until(() => report.holds, { what: 'it reports the end' })
    await report.letThrough()
    await scene.reaches('one', 'SUCCEEDED')
  })

  test('it deletes, and reports GONE for a deletion that has succeeded', async () => {
    const scene = await openScene(language, server)
    await using agent = scene.start()
    const id = await scene.offers({ one: DONE })
    await scene.reaches('one', 'SUCCEEDED')
    await remove(server.client, id)
    await agent.says({ event: 'begin', action: 'DELETE' })
    await until(async () => (await show(server.client, id)) === null, { what: 'it is gone' })
  })

  test('each piece of work goes to one of two agents, and none has more than it may', async () => {
    const scene = await openScene(language, server)
    await using first = scene.start({ concurrency: 3 })
    await using second = scene.start({ concurrency: 3, instance: 'second' })
    const names = Array.from({ length: 12 }, (_, i) => `item-${i}`)
    await scene.offers(Object.fromEntries(names.map((name) => [name, HOLDS])))
    const begun = () => [first, second].map(({ events }) => events.filter(({ event }) => event === 'begin'))
    await until(() => begun().every(({ length }) => length === 3), { what: 'both are full', instead: begun })
    for (const name of names) for (const agent of [first, second]) agent.go(name)
    for (const name of names) await scene.reaches(name, 'SUCCEEDED')
    expect(
      begun()
        .flat()
        .map(({ name }) => name)
        .toSorted(),
    ).toEqual(names.toSorted())
    for (const { events } of [first, second]) {
      let working = 0
      for (const { event } of events) {
        working += event === 'begin' ? 1 : event === 'end' ? -1 : 0
        expect(working).toBeLessThanOrEqual(3)
      }
    }
  })

  test('it renews the lease of work that takes longer', async () => {
    const scene = await openScene(language, server)
    await using agent = scene.start(SHORT)
    await scene.offers({ long: HOLDS })
    const begun = performance.now()
    await agent.says({ event: 'begin' })
    await until(() => performance.now() - begun > 1.5 * SHORT.leaseMs, { what: 'the first lease is over' })
    agent.go('long')
    await scene.reaches('long', 'SUCCEEDED')
    expect((await scene.item('long')).attempt).toBe(1)
  })

  test('work of an agent that is killed goes to another one, with another fence', async () => {
    const scene = await openScene(language, server)
    await using killed = scene.start(SHORT)
    await scene.offers({ one: HOLDS })
    const before = await killed.says({ event: 'begin' })
    killed.signal('SIGKILL')
    await using next = scene.start({ ...SHORT, instance: 'next' })
    const after = await next.says({ event: 'begin', attempt: 2 })
    expect(after.fence).not.toBe(before.fence)
    next.go('one')
    await scene.reaches('one', 'SUCCEEDED')
  })

  test('an agent that stood still for longer than its lease stops its work, and reports nothing', async () => {
    const scene = await openScene(language, server)
    // With more room it would have a claim open, which gets the work again.
    await using frozen = scene.start({ ...SHORT, concurrency: 1 })
    await scene.offers({ one: HOLDS })
    await frozen.says({ event: 'begin' })
    frozen.signal('SIGSTOP')
    await using next = scene.start({ ...SHORT, instance: 'next' })
    await next.says({ event: 'begin', attempt: 2 })
    frozen.signal('SIGCONT')
    await frozen.says({ event: 'stopped', reason: 'LOST' })
    next.go('one')
    await scene.reaches('one', 'SUCCEEDED')
    expect((await scene.item('one')).attempt).toBe(2)
    expect(frozen.events.filter(({ event }) => event === 'end')).toEqual([])
  })

  test('work stops by the clock of its agent, if its lease cannot be renewed', async () => {
    const scene = await openScene(language, server)
    await using proxy = await startSwitchableProxy(server.url)
    await using agent = scene.start({ ...SHORT, url: proxy.url })
    await scene.offers({ one: HOLDS })
    await agent.says({ event: 'begin' })
    proxy.switchTo(null)
    await agent.says({ event: 'stopped', reason: 'LOST' })
    proxy.switchTo(server.url)
    await agent.says({ event: 'begin', attempt: 2 })
  })

  test('work whose claim is answered later than its lease lasts is not begun', async () => {
    const scene = await openScene(language, server)
    await using proxy = await startHoldingProxy(server.url)
    const late = proxy.stopAt('ANSWER', ({ answer }) => answer?.includes('"fence"') === true)
    await using agent = scene.start({ ...SHORT, url: proxy.url })
    await scene.offers({ one: DONE })
    const claimedAt = await until(() => (late.holds ? performance.now() : null), { what: 'it is claimed' })
    await until(() => performance.now() - claimedAt > SHORT.leaseMs, { what: 'the lease is over' })
    await late.letThrough()
    await scene.reaches('one', 'SUCCEEDED')
    expect(agent.events.filter(({ event }) => event === 'begin')).toMatchObject([{ attempt: 2 }])
    expect(agent.events[0]).toMatchObject({ event: 'problem', what: 'claim' })
  })

  test('work whose claim has lost its answer comes again once the lease ends, and is begun once', async () => {
    const scene = await openScene(language, server)
    await using proxy = await startHoldingProxy(server.url)
    const lost = proxy.stopAt('ANSWER', ({ answer }) => answer?.includes('"fence"') === true)
    await using agent = scene.start({ ...SHORT, url: proxy.url })
    await scene.offers({ one: DONE })
    await until(() => lost.holds, { what: 'it is claimed' })
    lost.cut()
    await scene.reaches('one', 'SUCCEEDED')
    expect(agent.events.filter(({ event }) => event === 'begin')).toMatchObject([{ attempt: 2 }])
  })

  test('a report that has lost its answer is repeated with the same fence, and counts once', async () => {
    const scene = await openScene(language, server)
    await using proxy = await startHoldingProxy(server.url)
    const fits = ({ request }: { readonly request: string }) => request.includes('mutation Report')
    const lost = [proxy.stopAt('REQUEST', fits), proxy.stopAt('ANSWER', fits), proxy.stopAt('ANSWER', fits)]
    await using agent = scene.start({ url: proxy.url })
    await scene.offers({ one: [['end', { phase: 'SUCCEEDED', exports: { a: 1 } }]] })
    for (const hold of lost) {
      await until(() => hold.holds, { what: 'it reports' })
      hold.cut()
    }
    await scene.reaches('one', 'SUCCEEDED')
    const problems = () => agent.events.filter(({ event }) => event === 'problem')
    await until(() => problems().length === 3, { what: 'it notices that no answer came', instead: problems })
    expect(problems().map(({ what }) => what)).toEqual(['report', 'report', 'report'])
    const { attempt, exports, history } = await scene.item('one')
    expect({ attempt, exports }).toEqual({ attempt: 1, exports: { a: 1 } })
    expect(history.edges.filter(({ node }) => node.to === 'SUCCEEDED')).toHaveLength(1)
  })

  test('it continues after its server was away, and keeps its work if the lease lasts', async () => {
    const scene = await openScene(language, server)
    await using proxy = await startSwitchableProxy(server.url)
    await using agent = scene.start({ url: proxy.url })
    await scene.offers({ one: HOLDS })
    await agent.says({ event: 'begin' })
    proxy.switchTo(null)
    await agent.says({ event: 'problem', what: 'renew' })
    await agent.says({ event: 'problem', what: 'claim' })
    agent.go('one')
    await agent.says({ event: 'problem', what: 'report' })
    proxy.switchTo(server.url)
    await scene.reaches('one', 'SUCCEEDED')
    expect((await scene.item('one')).attempt).toBe(1)
  })

  test('work that is cancelled is stopped, and is ABORTED with the progress that it has made', async () => {
    const scene = await openScene(language, server)
    await using agent = scene.start()
    const id = await scene.offers({ one: [['report', { progress: { value: 1, total: 4 } }], ...HOLDS] })
    await agent.says({ event: 'begin' })
    await ask(server.client, MUTATIONS.cancelInstallation, { id })
    await agent.says({ event: 'stopped', reason: 'ABORT_REQUESTED' })
    await scene.reaches('one', 'ABORTED')
    expect((await scene.item('one')).progress).toMatchObject({ value: 1, total: 4 })
  })

  test('poison fails alone: what raises, returns nonsense, or reports what the server refuses', async () => {
    const scene = await openScene(language, server)
    await scene.offers({
      raises: [['raise', 'too far']],
      'returns-a-text': [['return', 'text']],
      'exports-no-json': [['return', 'exports']],
      'exports-a-large-integer': [['return', 'large-integer']],
      'unknown-phase': [['end', { phase: 'COMPLETED' }]],
      'phase-of-others': [['end', { phase: 'READY' }]],
      'unknown-field': [['end', { phase: 'SUCCEEDED', result: 1 }]],
      'unknown-field-of-report': [['report', { percent: 5 }], ['hold']],
      good: DONE,
    })
    await using agent = scene.start()
    const failures = ['raises', 'returns-a-text', 'unknown-phase', 'phase-of-others', 'unknown-field']
    for (const name of [...failures, 'exports-no-json', 'exports-a-large-integer', 'unknown-field-of-report'])
      await scene.reaches(name, 'FAILED')
    await scene.reaches('good', 'SUCCEEDED')
    const codeOf = async (name: string) => (await scene.item(name)).error?.code
    for (const name of [...failures, 'unknown-field-of-report'])
      expect([name, await codeOf(name)]).toEqual([name, 'AGENT_ERROR'])
    expect((await scene.item('raises')).error?.message).toMatch(/(Error|panic): too far$/)
    // The agent may leave it to the server to judge exports.
    for (const name of ['exports-no-json', 'exports-a-large-integer'])
      expect(['EXPORTS', 'AGENT_ERROR']).toContain(await codeOf(name))
    expect(agent.events.filter(({ event }) => event === 'over')).toEqual([])
  })

  test('texts for people are cut to what the server takes', async () => {
    const scene = await openScene(language, server)
    await using agent = scene.start()
    const long = '🚀'.repeat(10_000)
    await scene.offers({
      one: [
        ['log', long],
        ['report', { progress: { step: long, value: 1 } }],
        ['end', { phase: 'FAILED', error: { code: 'LONG', message: long } }],
      ],
    })
    await agent.says({ event: 'end' })
    await scene.reaches('one', 'FAILED')
    const { error, progress, logs } = await scene.item('one')
    expect([error?.code, error?.message.length, progress?.step?.length, logs.edges[0]?.node.text.length]).toEqual([
      'LONG',
      16_384,
      4_096,
      8_192,
    ])
    for (const text of [error?.message, progress?.step, logs.edges[0]?.node.text])
      expect(text).toMatch(/^(🚀)+ … \(cut\)$/u)
  })

  test('work that is given back is offered again, within the same attempt of its retry policy', async () => {
    const scene = await openScene(language, server)
    await using agent = scene.start()
    const error = { code: 'NOT_YET', message: 'Not yet.', retryable: true }
    const retry = { attempts: 1 }
    await scene.offers({ one: DONE }, { first: [['end', { phase: 'PROGRESSING', error }]], retry })
    await agent.says({ event: 'begin', attempt: 2 })
    await scene.reaches('one', 'SUCCEEDED')
  })

  test('a failure is attempted again by the retry policy, unless the agent calls it final', async () => {
    const scene = await openScene(language, server)
    await using agent = scene.start()
    const failure = (more: object) =>
      ['end', { phase: 'FAILED', error: { code: 'NO', message: 'No.', ...more } }] as const
    const backoff = { initialMs: 100, jitter: 0 }
    await scene.offers(
      { again: [failure({})], final: [failure({ retryable: false })] },
      { retry: { attempts: 2, backoff } },
    )
    await scene.reaches('again', 'FAILED')
    await scene.reaches('final', 'FAILED')
    const begun = (wanted: string) => agent.events.filter(({ event, name }) => event === 'begin' && name === wanted)
    expect([begun('again').length, begun('final').length]).toEqual([2, 1])
  })

  test('an agent that ends finishes its work in time', async () => {
    const scene = await openScene(language, server)
    await using agent = scene.start()
    await scene.offers({ one: HOLDS })
    await agent.says({ event: 'begin' })
    agent.signal('SIGTERM')
    await agent.says({ event: 'stopping' })
    agent.go('one')
    await agent.says({ event: 'over', code: null as never })
    expect((await scene.item('one')).phase).toBe('SUCCEEDED')
  })

  test('an agent that ends gives back what takes longer: another one has it long before the lease ends', async () => {
    const scene = await openScene(language, server)
    await using agent = scene.start({ drainMs: 100, leaseMs: 600_000 })
    await scene.offers({ one: HOLDS })
    await agent.says({ event: 'begin' })
    agent.signal('SIGTERM')
    await agent.says({ event: 'stopped', reason: 'SHUTDOWN' })
    await agent.says({ event: 'over', code: null as never })
    await using next = scene.start({ instance: 'next' })
    await next.says({ event: 'begin', attempt: 2 })
    next.go('one')
    await scene.reaches('one', 'SUCCEEDED')
  })

  test('work that never ends gives its place to others, a lease after it had to stop', async () => {
    const scene = await openScene(language, server)
    await using agent = scene.start({ ...SHORT, concurrency: 1 })
    // A deployer may not report it, so the work is stopped.
    await scene.offers({ one: DONE }, { first: [['report', { phase: 'READY' }], ['endless']] })
    await agent.says({ event: 'begin', attempt: 2 })
    await scene.reaches('one', 'SUCCEEDED')
    const { message } = await agent.says({ event: 'problem', what: 'work' })
    expect(message).toMatch(/^Its work continues, 3(000 m)? ?s after it had to stop/)
  })

  test('an agent that the server refuses ends, and says why', async () => {
    const scene = await openScene(language, server)
    await using stranger = scene.start({ token: 'of-nobody' })
    await stranger.says({ event: 'over', code: 'unauthorized' })
    await using greedy = scene.start({ types: ['other-work'] })
    await greedy.says({ event: 'over', code: 'FORBIDDEN' })
  })

  test('it counts on no longer lease than a server gives', async () => {
    await using failing = await startFailingServer({ status: 503, body: {} })
    const options = { url: failing.url, token: 'a-token', types: ['any'], leaseMs: 3_600_000 }
    await using agent = startAgentProcess(language, options)
    await until(() => failing.leasesMs.length > 0, { what: 'it claims', instead: () => agent.events })
    expect(failing.leasesMs[0]).toBe(600_000)
  })

  test('a token that is refused is renewed once', async () => {
    await using failing = await startFailingServer({ status: 401, body: {} })
    const options = { url: failing.url, token: ['old', 'new'], types: ['any'] }
    await using agent = startAgentProcess(language, options)
    await until(() => failing.claims.length > 1, { what: 'it claims again', instead: () => agent.events })
    expect(failing.tokens.slice(0, 2)).toEqual(['old', 'new'])
    expect(agent.events).toEqual([])
  })

  test('over TLS it calls a server that an authority of its machine vouches for, and no other one', async () => {
    await using folder = await mkdtempDisposable(join(tmpdir(), 'phaseline-agent-tls-'))
    const { caFile, issue } = await createAuthority(folder.path)
    const pair = await issue('server')
    const files = { PHASELINE_TLS_CERT: join(pair, 'tls.crt'), PHASELINE_TLS_KEY: join(pair, 'tls.key') }
    await using secure = await startTestApp({ env: { ...ENV, ...files } })
    const options = { url: secure.url, token: secure.token, types: ['any'] }
    await using stranger = startAgentProcess(language, options)
    const { message } = await stranger.says({ event: 'problem', what: 'claim' })
    expect(message).toMatch(/certificate/)
    // The token of an administrator claims nothing: the server has read it.
    await using agent = startAgentProcess(language, { ...options, caFile })
    await agent.says({ event: 'over', code: 'FORBIDDEN' })
  })

  test('after a restore its work is lost, stopped, and claimed anew', async () => {
    await using original = await createTestDatabase(2)
    const before = await startTestApp({ env: { ...ENV, DATABASE_URL: original.url } })
    await using stack = new AsyncDisposableStack()
    stack.use(before)
    const scene = await openScene(language, before)
    const id = await scene.offers({ one: HOLDS })
    await until(async () => (await itemsOf(before.client, id)).size === 1, { what: 'it is offered' })
    await using restored = await copyDatabase(original, 2)
    await using proxy = await startSwitchableProxy(before.url)
    await using agent = scene.start({ url: proxy.url })
    const { fence } = await agent.says({ event: 'begin' })
    proxy.switchTo(null)
    await before[Symbol.asyncDispose]()
    await using after = await startTestApp({ env: { ...ENV, DATABASE_URL: restored.url } })
    proxy.switchTo(after.url)
    await agent.says({ event: 'stopped', reason: 'LOST' })
    await until(() => agent.events.filter(({ event }) => event === 'begin').length === 2, { what: 'it begins anew' })
    expect(agent.events.findLast(({ event }) => event === 'begin')).toMatchObject({ attempt: 1 })
    expect(agent.events.findLast(({ event }) => event === 'begin')?.fence).not.toBe(fence)
    agent.go('one')
    await until(async () => (await itemsOf(after.client, id)).get('one')?.phase === 'SUCCEEDED', { what: 'it is done' })
  })

  test('a reader of the log has each change once, in order, over connections that are cut', async () => {
    await using own = await startTestApp({ env: ENV })
    await using proxy = await startSwitchableProxy(own.url)
    const { log } = await own.client.query(LOG)
    const options = { url: proxy.url, token: own.token, types: [], follow: present(log?.startCursor) }
    await using reader = startAgentProcess(language, options)
    const sequences = () => reader.events.filter(({ event }) => event === 'change').map(({ sequence }) => sequence)
    for (const name of ['one', 'two', 'three']) {
      const id = await create(own.client, name, { deployItems: [] })
      await until(async () => (await show(own.client, id))?.finished, { what: `${name} is done` })
      await until(() => sequences().length > 0, { what: 'it reads' })
      proxy.switchTo(own.url)
    }
    const head = present((await own.client.query(LOG)).log?.head)
    await until(() => sequences().length >= head, { what: 'it has read all', instead: sequences })
    expect(sequences()).toEqual(Array.from({ length: head }, (_, i) => i + 1))
  })

  test('a reader of the log is told of a restore, and misses nothing after it', async () => {
    await using original = await createTestDatabase(2)
    const before = await startTestApp({ env: { ...ENV, DATABASE_URL: original.url }, token: 'the-token-of-both' })
    await using stack = new AsyncDisposableStack()
    stack.use(before)
    const finish = async ({ client }: TestApp, name: string) => {
      const id = await create(client, name, { deployItems: [] })
      await until(async () => (await show(client, id))?.finished, { what: `${name} is done` })
    }
    await finish(before, 'kept')
    await using restored = await copyDatabase(original, 2)
    await until(
      () =>
        finish(before, 'lost').then(
          () => true,
          () => false,
        ),
      { what: 'the server works on' },
    )
    const { log } = await before.client.query(LOG)
    await using proxy = await startSwitchableProxy(before.url)
    const options = { url: proxy.url, token: 'the-token-of-both', types: [], follow: present(log?.startCursor) }
    await using reader = startAgentProcess(language, options)
    await reader.says({ event: 'change', sequence: present(log?.head) })
    proxy.switchTo(null)
    await before[Symbol.asyncDispose]()
    await using after = await startTestApp({ env: { ...ENV, DATABASE_URL: restored.url }, token: 'the-token-of-both' })
    await finish(after, 'new')
    proxy.switchTo(after.url)
    await reader.says({ event: 'expired' })
    await reader.says({ event: 'change', name: 'new', to: 'SUCCEEDED' })
    const { head } = present((await after.client.query(LOG)).log)
    const told = reader.events.slice(reader.events.findIndex(({ event }) => event === 'expired') + 1)
    const sequences = told.map(({ sequence }) => sequence as number)
    expect(sequences).toEqual(sequences.map((_, i) => (sequences[0] as number) + i))
    expect(sequences.at(-1)).toBe(head)
    expect(told.filter(({ name }) => name === 'lost')).toEqual([])
  })

  test.each(VECTORS.failures)('a claim is answered with $title: it $agent', async (failure) => {
    await using failing = await startFailingServer(failure)
    await using agent = startAgentProcess(language, { url: failing.url, token: 'a-token', types: ['any'] })
    if (failure.agent === 'ends') await agent.says({ event: 'over', code: failure.code })
    else {
      const [first = 0, second = 0] = await until(() => (failing.claims.length > 1 ? failing.claims : null), {
        what: 'it claims again',
        instead: () => agent.events,
      })
      expect(second - first).toBeGreaterThanOrEqual(failure.afterMs ?? 0)
      expect(agent.events[0]).toMatchObject({ event: 'problem', what: 'claim' })
    }
    expect(failing.followed).toEqual([])
  })
}

/** For languages whose agent has such an option. */
export function boundsItsAnswers(language: Language): void {
  test('an answer that is larger than its bound is not read', async () => {
    await using failing = await startFailingServer({ status: 200, body: 'x'.repeat(2_000) })
    await using agent = startAgentProcess(language, { url: failing.url, token: 't', types: ['any'], maxBytes: 1_000 })
    const { message } = await agent.says({ event: 'problem', what: 'claim' })
    expect(message).toBe('The answer is larger than 1000 bytes.')
  })
}

/** `exit` of the steps ends the process in other languages, or does not exist. */
export function survivesExits(language: Language, title: string, message: string): void {
  test(title, async () => {
    await using server = await startTestApp({ env: ENV })
    const scene = await openScene(language, server)
    await using _agent = scene.start()
    await scene.offers({ exits: [['exit', 3]], good: DONE })
    await scene.reaches('exits', 'FAILED')
    await scene.reaches('good', 'SUCCEEDED')
    expect((await scene.item('exits')).error).toMatchObject({
      code: 'AGENT_ERROR',
      message: expect.stringContaining(message),
    })
  })
}
