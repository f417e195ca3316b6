import { v7 } from 'uuid'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Client, createClient } from '../../src/client/index.ts'
import type { VariablesOf } from '../../src/documents/typed-document.ts'
import { appendLogLines } from '../../src/store/log-lines.ts'
import { type CommandLine, commandLine, documents } from '../cli/command.ts'
import { gql } from '../testkit/gql.ts'
import { freePort } from '../testkit/redis.ts'
import { viewerOf } from '../testkit/viewers.ts'
import { until } from '../testkit/wait.ts'
import { item, USER } from '../testkit/world.ts'
import { type Api, createApi } from './api.ts'

const SEARCH = gql(`query ($filter: OutputFilter, $first: Int, $after: String, $last: Int) {
  output(filter: $filter, first: $first, after: $after, last: $last) {
    pageInfo { hasNextPage endCursor } edges { node { cursor text stream object { path } } }
  }
}`)
const FOLLOW = gql(`subscription ($filter: OutputFilter, $after: String) {
  output(filter: $filter, after: $after) { cursor text }
}`)
const AT = Date.UTC(2026, 0, 1)

let api: Api
let client: Client
let phaseline: CommandLine
let shop: { readonly root: string; readonly db: string; readonly front: string }
beforeAll(async () => {
  api = await createApi()
  const root = await api.world.create('shop', { deployItems: [item('db'), item('front')] })
  const [db, front] = await Promise.all(['db', 'front'].map((name) => api.world.see('shop', 'deploy-items', name)))
  shop = { root, db: db?.id ?? '', front: front?.id ?? '' }
  const other = await api.world.create('other', { deployItems: [item('db')] })
  expect(other).not.toBe(root)
  const { id } = await api.world.see('other', 'deploy-items', 'db')
  await write([
    [shop.db, 'Connecting to db-1', 'STDOUT', 0],
    [shop.front, 'Listening', 'STDOUT', 1],
    [shop.db, 'Connection REFUSED by db-1', 'STDERR', 2],
    [id, 'Connection refused by db-2', 'STDOUT', 3],
    [shop.front, '3 lines before the next one are not kept any more.', 'SYSTEM', 4],
  ])
  const port = await freePort()
  await api.serve({ port })
  const token = await api.token()
  const url = `http://127.0.0.1:${port}/graphql`
  client = createClient({ url, token })
  phaseline = commandLine({ PHASELINE_URL: url, PHASELINE_TOKEN: token })
})
afterAll(async () => {
  await client.close()
  await api[Symbol.asyncDispose]()
})

type Stream = 'STDOUT' | 'STDERR' | 'SYSTEM'
const write = (lines: readonly (readonly [id: string, text: string, stream: Stream, second: number])[]) =>
  lines.reduce<Promise<void>>(async (before, [objectId, text, stream, second]) => {
    await before
    await appendLogLines(api.world.pool, [{ objectId, text, stream, at: new Date(AT + second * 1_000) }])
  }, Promise.resolve())

type Filter = NonNullable<VariablesOf<typeof SEARCH>['filter']>
const found = async (filter: Filter, viewer = USER) => {
  const { output } = await api.query(SEARCH, { filter, first: 100 }, viewer)
  return output?.edges.map(({ node: { text, object } }) => `${object?.path}: ${text}`) ?? []
}

test('output is searched over an object, a tree, a project and all, by words, time and stream', async () => {
  const connections = ['shop/deploy-items/db: Connecting to db-1', 'shop/deploy-items/db: Connection REFUSED by db-1']
  expect(await found({ rootId: shop.root, search: 'CONNECT db-1' })).toEqual(connections)
  expect(await found({ objectId: shop.db })).toEqual(connections)
  expect(await found({ project: 'default', search: 'refused' })).toEqual([
    'shop/deploy-items/db: Connection REFUSED by db-1',
    'other/deploy-items/db: Connection refused by db-2',
  ])
  expect(await found({ streams: ['STDERR'] })).toEqual(connections.slice(1))
  const since = new Date(AT + 1_000).toISOString()
  const end = new Date(AT + 3_000).toISOString()
  expect(await found({ since, until: end })).toEqual(['shop/deploy-items/front: Listening', ...connections.slice(1)])
  expect(await found({ search: 'kept' })).toEqual([])
  expect(await found({ search: ' ' })).toEqual(await found({}))
  await expect(found({ search: '\0' })).rejects.toThrow('filter.search: holds the character NUL')
})

test('nobody finds output that they may not read, and a filter has one scope', async () => {
  expect(await found({ rootId: shop.root }, viewerOf('USER', { projects: [v7()] }))).toEqual([])
  expect(await found({ project: 'default' }, viewerOf('USER', { projects: [v7()] }))).toEqual([])
  expect(await found({}, viewerOf('USER', { projects: [v7()] }))).toEqual([])
  expect(await found({}, viewerOf('WORKER', { rootId: shop.root }))).toEqual(await found({ rootId: shop.root }))
  expect(await found({ project: 'default' }, viewerOf('WORKER', { rootId: shop.root }))).toEqual([])
  expect(await found({ project: 'nowhere' })).toEqual([])
  const QUERY =
    'query ($filter: OutputFilter, $after: String) { output(filter: $filter, after: $after) { totalCount } }'
  const errorOf = async (variables: object) => {
    const { errors } = await api.execute(QUERY, variables)
    return [errors?.[0]?.extensions.code, errors?.[0]?.message]
  }
  expect(await errorOf({ filter: { rootId: shop.root, project: 'default' } })).toEqual([
    'BAD_USER_INPUT',
    'Give one of objectId, rootId and project: each stands for its own output.',
  ])
  expect(await errorOf({})).toEqual(['BAD_USER_INPUT', 'Lines of output have no totalCount: read their pages.'])
  expect(await errorOf({ after: '999999' })).toEqual(['CURSOR_EXPIRED', expect.stringContaining('ends at 5')])
})

test('a stream has what matches, each line once, and resumes after a line', async () => {
  const texts: string[] = []
  const cursors: string[] = []
  const stop = new AbortController()
  const variables = { filter: { rootId: shop.root, search: 'connect' }, after: '0' }
  const ended = (async () => {
    for await (const { output } of client.subscribe(FOLLOW, variables, { signal: stop.signal })) {
      texts.push(output.text)
      cursors.push(output.cursor)
    }
  })()
  await until(() => texts.length === 2, { what: 'the lines that are there' })
  await write([
    [shop.front, 'nothing of it', 'STDOUT', 10],
    [shop.db, 'Connected', 'STDOUT', 11],
  ])
  await until(() => texts.length === 3, { what: 'the line that has come' })
  stop.abort()
  await ended
  expect(texts).toEqual(['Connecting to db-1', 'Connection REFUSED by db-1', 'Connected'])
  const { output } = await api.query(SEARCH, { filter: { rootId: shop.root }, after: cursors[1] ?? null })
  expect(output?.edges.map(({ node }) => node.text).slice(-2)).toEqual(['nothing of it', 'Connected'])
})

test('phaseline logs prints output of an object, a tree and a project', async () => {
  expect(await phaseline('logs shop --search refused')).toMatchObject({
    out: 'default/shop/deploy-items/db | Connection REFUSED by db-1\n',
    code: 0,
  })
  expect((await phaseline('logs shop/deploy-items/db --stream stderr -t')).out).toBe(
    '2026-01-01T00:00:02.000Z Connection REFUSED by db-1\n',
  )
  const all = documents((await phaseline('logs --project default --since 2026-01-01 --json')).out)
  expect(all).toHaveLength(7)
  expect(all[3]).toMatchObject({ text: 'Connection refused by db-2', object: { path: 'other/deploy-items/db' } })
  expect((await phaseline('logs shop --limit 1')).out).toBe('default/shop/deploy-items/db | Connected\n')
  // A part of the lines says so, where no pipe takes it for one of them.
  expect((await phaseline('logs shop --limit 2')).err).toBe('2 of 6 lines, the newest: --limit 6 prints all of them.\n')
  expect((await phaseline('logs shop/deploy-items/db --limit 1')).err).toMatch(/^1 of \d lines, the newest/)
  for (const rest of ['--limit 6', '--limit 1 --json', '--timestamps'])
    expect((await phaseline(`logs shop ${rest}`)).err).toBe('')
  expect((await phaseline('log shop --limit 1')).err).toMatch(/^1 of \d+ phase changes, the newest: --limit \d+ prints/)
  expect(await phaseline('logs shop --search nowhere')).toMatchObject({ err: 'No output matches.\n', code: 0 })
  expect((await phaseline('logs shop --until 1h --follow')).code).toBe(2)
  expect((await phaseline('logs shop --stream sideways')).code).toBe(2)
})
