import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Client, createClient } from '../../src/client/index.ts'
import type { VariablesOf } from '../../src/documents/typed-document.ts'
import type { RunningServer } from '../../src/server/server.ts'
import { appendLogLines } from '../../src/store/log-lines.ts'
import { type CommandLine, commandLine, documents } from '../cli/command.ts'
import { present } from '../testkit/ask.ts'
import { MUTATIONS } from '../testkit/documents.ts'
import { gql } from '../testkit/gql.ts'
import { freePort } from '../testkit/redis.ts'
import { until } from '../testkit/wait.ts'
import { DEPLOYER, item } from '../testkit/world.ts'
import { type Api, createApi } from './api.ts'

const FOLLOW = gql(`subscription ($objectId: ID!, $after: String, $untilEnd: Boolean! = false) {
  logs(objectId: $objectId, after: $after, untilEnd: $untilEnd) { cursor stream text }
}`)

let api: Api
let port: number
let server: RunningServer
let client: Client
let phaseline: CommandLine
beforeAll(async () => {
  api = await createApi()
  port = await freePort()
  server = await api.serve({ port })
  const token = await api.token()
  const url = `http://127.0.0.1:${port}/graphql`
  client = createClient({ url, token })
  phaseline = commandLine({ PHASELINE_URL: url, PHASELINE_TOKEN: token })
})
afterAll(async () => {
  await client.close()
  await api[Symbol.asyncDispose]()
})

/** A deploy item in the hands of its deployer. */
async function running(name: string) {
  const root = await api.world.create(name, { deployItems: [{ ...item('only'), type: name }] })
  const { id } = await api.world.see(name, 'deploy-items', 'only')
  const [work] = await api.world.claim(1, DEPLOYER, [name])
  const fence = work?.fence ?? ''
  return {
    ...{ id, root },
    write: (...texts: string[]) =>
      api.world.engineHost.agents.appendLogs(
        DEPLOYER,
        texts.map((text) => ({ fence, stream: 'STDOUT' as const, text })),
      ),
    end: () => api.world.report({ fence, phase: 'SUCCEEDED' }),
  }
}

test('a line is dated by the time here, however wrong the clock of its agent is', async () => {
  await api.world.create('dated', { deployItems: [{ ...item('only'), type: 'dated' }] })
  const { id } = await api.world.see('dated', 'deploy-items', 'only')
  const [work] = await api.world.claim(1, DEPLOYER, ['dated'])
  api.world.clock.advance(10_000)
  const now = api.world.clock.now().getTime()
  const iso = (ms: number) => new Date(ms).toISOString()
  const append = (input: VariablesOf<typeof MUTATIONS.appendLogs>['input']) =>
    api.query(MUTATIONS.appendLogs, { input }, DEPLOYER)
  const fence = present(work).fence
  const line = (text: string, at?: string) => ({ fence, stream: 'STDOUT' as const, text, at })
  for (const ahead of [600_000, -600_000]) {
    const sentAt = iso(now + ahead)
    const lines = [
      line('before', iso(now + ahead - 5_000)),
      line('now', sentAt),
      line('later', iso(now + ahead + 9_000)),
    ]
    expect(await append({ sentAt, lines })).toMatchObject({ answer: { accepted: 3 } })
  }
  // Without `sentAt` a time in the past is believed, and one in the future is not.
  await append({ lines: [line('past', iso(now - 5_000)), line('future', iso(now + 5_000)), line('undated')] })
  // Both extremes of time, in both directions.
  const [first, last] = ['0000-01-01T00:00:00.000Z', '9999-12-31T23:59:59.999Z']
  await append({ sentAt: first, lines: [line('last', last)] })
  await append({ sentAt: last, lines: [line('first', first)] })
  const { rows } = await api.world.pool.query<{ text: string; at: Date }>(
    'select text, at from log_line where object_id = $1 order by n',
    [id],
  )
  const three = [
    ['before', -5_000],
    ['now', 0],
    ['later', 0],
  ]
  const undated = [
    ['past', -5_000],
    ['future', 0],
    ['undated', 0],
  ]
  const extremes = [
    ['last', 0],
    // No line is from before its job.
    ['first', -10_000],
  ]
  expect(rows.map(({ text, at }) => [text, at.getTime() - now])).toEqual([...three, ...three, ...undated, ...extremes])
})

interface Line {
  readonly cursor: string
  readonly stream: string
  readonly text: string
}
function follow(objectId: string, untilEnd: boolean, after: string | null = null) {
  const lines: Line[] = []
  const stop = new AbortController()
  let hasEnded = false
  const ended = (async () => {
    const stream = client.subscribe(FOLLOW, { objectId, after, untilEnd }, { signal: stop.signal, buffer: 10_000 })
    for await (const { logs } of stream) lines.push(logs)
    hasEnded = true
  })()
  return {
    texts: () => lines.map(({ text }) => text),
    ended,
    hasEnded: () => hasEnded,
    async [Symbol.asyncDispose]() {
      stop.abort()
      await ended
    },
  }
}

test('untilEnd ends after the end and the last lines, and not before; otherwise a stream goes on', async () => {
  const early = await running('early')
  await early.write('one')
  const late = await running('late')
  await late.write('one')
  await using toEnd = follow(late.id, true)
  await using always = follow(late.id, false)
  await early.end()
  // As long as this one takes, and it is silent as long: but its object is not finished.
  await follow(early.id, true).ended
  await until(() => toEnd.texts().length === 1, { what: 'the first line is there' })
  expect(toEnd.hasEnded()).toBe(false)

  await late.end()
  await late.write('after the report')
  await toEnd.ended
  expect(toEnd.texts()).toEqual(['one', 'after the report'])

  await late.write('much later')
  await until(() => always.texts().length === 3, { what: 'the stream without an end has it' })
  expect(always.hasEnded()).toBe(false)
  const again = follow(late.id, true)
  await again.ended
  expect(again.texts()).toEqual(['one', 'after the report', 'much later'])
})

test('a job that is running again keeps the stream open', async () => {
  const work = await running('again')
  await work.write('first run')
  await work.end()
  await api.world.reconcile(work.root)
  await using stream = follow(work.id, true)
  const other = await running('another')
  await other.end()
  await follow(other.id, true).ended
  expect(stream.hasEnded()).toBe(false)
  const [claimed] = await api.world.claim(1, DEPLOYER, ['again'])
  await api.world.engineHost.agents.appendLogs(DEPLOYER, [
    { fence: claimed?.fence ?? '', stream: 'STDOUT', text: 'second run' },
  ])
  await api.world.report({ fence: claimed?.fence ?? '', phase: 'SUCCEEDED' })
  await stream.ended
  expect(stream.texts()).toEqual(['first run', 'second run'])
})

test('many who wait for the end of many objects ask the database once a beat', async () => {
  const works = await Promise.all(Array.from({ length: 5 }, (_, i) => running(`beat-${i}`)))
  const streams = works.flatMap(({ id }) => Array.from({ length: 8 }, () => follow(id, true)))
  for (const work of works) await work.write('there')
  await until(() => streams.every((stream) => stream.texts().length === 1), { what: 'all have begun' })
  let beats = 0
  const { interval } = api.services.live
  const statements = await api.statements(async () => {
    for (const signal = new AbortController().signal; beats < 4; beats += 1) await interval.next(signal)
  })
  // The lines and the objects of all of them, and a beat's answers may still be under way when it is counted.
  expect(statements).toBeLessThanOrEqual(2 * (beats + 1))
  for (const work of works) await work.end()
  await Promise.all(streams.map((stream) => stream.ended))
})

test('pages, counts and streams begin with what is kept, and say what is not', async () => {
  const { id, end } = await running('pruned')
  const lines = Array.from({ length: 30 }, (_, i) => `${i + 1}`)
  for (const text of lines) {
    const line = { objectId: id, at: new Date(), stream: 'STDOUT' as const, text }
    await appendLogLines(api.world.pool, [line], { maxLines: 10, maxBytes: 10_000 })
  }
  await end()
  const { object } = await api.query(
    gql(
      'query ($id: ID!) { object(id: $id) { logs(first: 100, after: "2") { totalCount edges { cursor node { stream text } } } } }',
    ),
    { id },
  )
  const { totalCount, edges } = present(object).logs
  const [first, ...rest] = edges.map(({ node }) => node)
  const dropped = lines.length - rest.length
  expect(totalCount).toBe(rest.length + 1)
  const text = `${dropped} lines before the next one are not kept any more.`
  expect(first).toEqual({ stream: 'SYSTEM', text })
  expect(rest.map((node) => node.text)).toEqual(lines.slice(dropped))
  const stream = follow(id, true, '2')
  await stream.ended
  expect(stream.texts()).toEqual([text, ...lines.slice(dropped)])
})

test('the command line prints output, each line once though its server restarts, and ends with it', async () => {
  const work = await running('printed')
  await work.write('one', '  two\u001b[2J')
  const where = 'log printed/deploy-items/only --kind deploy-item --output'
  expect(await phaseline(where)).toEqual({ code: 0, out: 'one\n  two\n', err: '' })
  expect(await phaseline(`${where} --limit 1`)).toMatchObject({ code: 0, out: '  two\n' })
  expect(documents((await phaseline(`${where} --after 1 --json`)).out)).toMatchObject([
    { cursor: '2', stream: 'STDOUT', at: expect.any(String) },
  ])
  await using following = phaseline.spawn(`${where} --follow`)
  await following.shows('two')
  await server.close()
  await work.write('three')
  server = await api.serve({ port })
  await following.shows('three')
  await work.write('four')
  await work.end()
  expect(await following.exit).toBe(0)
  expect(following.out()).toBe('one\n  two\nthree\nfour\n')
  expect(await phaseline('log --output')).toMatchObject({ code: 2 })
})
