import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestApp, type TestApp } from '../testkit/app.ts'
import { ask } from '../testkit/ask.ts'
import { describedText } from '../testkit/described.ts'
import { MUTATIONS } from '../testkit/documents.ts'
import { gql } from '../testkit/gql.ts'
import { until } from '../testkit/wait.ts'

/** The log for programs without GraphQL: pages of lines that say what GraphQL says, and what becomes of wrong questions. */

let app: TestApp
beforeAll(async () => {
  app = await startTestApp()
  for (const name of ['alpha', 'bravo', 'charlie']) await create(name)
})
afterAll(() => app[Symbol.asyncDispose]())

const create = (name: string) => ask(app.client, MUTATIONS.createInstallation, { name, spec: { deployItems: [] } })
const settled = gql('{ objects(filter: { finished: false }, first: 1) { totalCount } }')
const rest = () =>
  until(async () => (await app.client.query(settled)).objects?.totalCount === 0, { what: 'all is at rest' })

const get = (path: string, headers: Record<string, string> = {}, token = app.token) =>
  fetch(`${app.origin}${path}`, { headers: { authorization: `Bearer ${token}`, ...headers } })
async function read(path: string, token?: string) {
  const response = await get(path, {}, token)
  const text = await describedText('GET', path, response)
  const lines = text.split('\n').filter((line) => line !== '')
  return {
    response,
    lines: lines.map((line) => JSON.parse(line) as { sequence: number; cursor: string; name: string }),
  }
}
const nextOf = ({ headers }: Response): string => /^<(.*)>; rel="next"$/.exec(headers.get('link') ?? '')?.[1] ?? ''

const CHANGES = gql(`{ phaseChanges(first: 500) { edges { node {
  id sequence cursor objectId kind name path rootId projectName machine from to actor by byId reason message jobId revision rejected
  requested at
} } } }`)

test('pages that follow each other have what GraphQL has; full ones may be kept, and the last one is not sent twice', async () => {
  await rest()
  const { phaseChanges } = await app.client.query(CHANGES)
  const all = phaseChanges?.edges.map(({ node }) => node) ?? []
  const found: unknown[] = []
  let path = '/log?limit=4'
  for (;;) {
    const { response, lines } = await read(path)
    expect([response.status, response.headers.get('content-type')]).toEqual([
      200,
      'application/x-ndjson; charset=utf-8',
    ])
    found.push(...lines)
    const isFull = lines.length === 4
    expect(response.headers.get('cache-control')).toContain(isFull ? 'immutable' : 'no-cache')
    const again = await get(path, { 'if-none-match': response.headers.get('etag') ?? '' })
    expect([again.status, await again.text()]).toEqual([304, ''])
    if (!isFull) break
    path = nextOf(response)
  }
  expect(found).toEqual(all)
  const some = await read('/log?kinds=INSTALLATION,EXECUTION&to=SUCCEEDED&project=default&since=2020-01-01T00:00:00Z')
  expect(some.lines.map(({ name }) => name).toSorted()).toEqual(['alpha', 'bravo', 'charlie'])
  expect((await read('/log?rootId=no-id')).lines).toEqual([])
  const sought = await read('/log?search=BRAVO%20succeeded')
  expect(new Set(sought.lines.map(({ name }) => name))).toEqual(new Set(['bravo']))
})

test('a reader at the end waits for the next change, and misses none', async () => {
  await rest()
  const head = await read('/log?after=head')
  expect(head.lines).toEqual([])
  const waiting = read(`${nextOf(head.response)}&wait=30`)
  await create('waited-for')
  const first = await waiting
  expect(first.lines[0]).toMatchObject({ name: 'waited-for' })
  await rest()
  const more = await read(nextOf(first.response).replace('&wait=30', ''))
  const sequences = [...first.lines, ...more.lines].map(({ sequence }) => sequence)
  expect(sequences).toEqual(sequences.map((_, i) => (sequences[0] as number) + i))
  const quiet = await read(`${nextOf(more.response)}&wait=1`)
  expect([quiet.response.status, quiet.lines]).toEqual([200, []])
})

test('a server that shuts down ends a wait with an empty page', async () => {
  await using other = await startTestApp()
  const waiting = fetch(`${other.origin}/log?after=head&wait=60`, {
    headers: { authorization: `Bearer ${other.token}` },
  })
  // By its answer, the earlier request is there as well.
  await other.client.query(settled)
  await other[Symbol.asyncDispose]()
  const ended = await waiting
  expect([ended.status, await ended.text()]).toEqual([200, ''])
})

test('each reader has its own projects', async () => {
  await app.client.query(gql('mutation { createProject(input: { name: "elsewhere" }) { __typename } }'))
  const { secret: other } = await ask(app.client, MUTATIONS.createToken, {
    ...{ name: 'other', role: 'READER', projects: ['elsewhere'] },
  })
  expect((await read('/log', other)).lines).toEqual([])
})

test.each<[string, number, string]>([
  ['/log?limit=0', 400, 'limit: must be a whole number from 1 to 1000.'],
  ['/log?limit=ten', 400, 'limit: must be'],
  ['/log?wait=61', 400, 'wait: must be whole seconds from 0 to 60.'],
  ['/log?after=yesterday', 400, 'after: must be a cursor or a sequence of the log, or `head`.'],
  ['/log?kinds=ROCKET', 400, 'kinds'],
  ['/log?kind=TASK', 400, 'There is no parameter kind. There are: after, limit, wait, actors,'],
  ['/log?to=FAILED&to=ABORTED', 400, 'to: is there twice. Several values have commas between them.'],
  [`/log?search=${'x'.repeat(1_025)}`, 400, 'search: has more than 1024 characters.'],
  ['/log?since=yesterday', 400, 'since'],
  ['/log?after=99999999', 410, 'This cursor is not in the log'],
])('%s is refused', async (path, status, message) => {
  const response = await get(path)
  const body = JSON.parse(await describedText('GET', path, response)) as {
    errors: { message: string; extensions: { code: string } }[]
  }
  expect([response.status, body.errors[0]?.message]).toEqual([status, expect.stringContaining(message)])
  expect(response.headers.get('cache-control')).toBe('no-store')
})

test('without a token, with another method, and as a page', async () => {
  expect((await get('/log', {}, 'wrong')).status).toBe(401)
  const posted = await fetch(`${app.origin}/log`, { method: 'POST', body: '{}' })
  expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET'])
})
