import { afterAll, beforeAll, expect, test } from 'vitest'
import { createClient } from '../../src/client/index.ts'
import type { RunningServer } from '../../src/server/server.ts'
import { loadDataObjects, loadProjects } from '../../src/store/loaders/projects.ts'
import { loadSpecs } from '../../src/store/loaders/side-rows.ts'
import { type Api, createApi } from '../graphql/api.ts'
import { change, createRoot, write } from '../log/writer.ts'
import { payloadOf } from '../testkit/ask.ts'
import { MUTATIONS } from '../testkit/documents.ts'
import { gql } from '../testkit/gql.ts'
import { post, refusals } from './call.ts'

/** Answers have a bound, which ends one that would exceed it before it takes the memory. */

const KIB = 1024
const LIMIT = 64 * KIB

let api: Api
let server: RunningServer
let token: string
beforeAll(async () => {
  api = await createApi()
  server = await api.serve({ limits: { answerBytes: LIMIT } })
  token = await api.token()
  await setData('large', 'x'.repeat(LIMIT))
  await setData('nothing', null)
  for (const name of ['one', 'three', 'two']) await setData(name, { text: 'x'.repeat(20 * KIB) })
})
afterAll(() => api[Symbol.asyncDispose]())

const setData = (name: string, value: unknown) =>
  api.world.pool.query(
    `insert into data_object (project_id, name, value, updated_at) select id, $1, $2, now() from project where name = 'default'`,
    [name, JSON.stringify(value)],
  )
const ask = async (query: string) => (await post(server.port, token, query)).json()
const project = (fields: string): string => `{ project(name: "default") { ${fields} } }`
const times = (count: number, field: (i: number) => string): string =>
  Array.from({ length: count }, (_, i) => `a${i}: ${field(i)}`).join(' ')
const TOO_LARGE = {
  message: expect.stringMatching(/more than 65536 bytes.*smaller pages.*one object at a time/),
  extensions: { code: 'ANSWER_TOO_LARGE' },
}

test.each([
  ['one value', project('dataObjects(first: 1) { edges { node { value } } }')],
  ['aliases of a value', project(`dataObjects(last: 1) { edges { node { ${times(4, () => 'value')} } } }`)],
  ['a page', project('dataObjects(first: 3) { edges { node { name value } } }')],
  ['aliases of a page', project(times(2, () => 'dataObjects(last: 2) { edges { node { value } } }'))],
  ['different pages', project(times(3, (i) => `dataObjects(last: ${i + 1}) { edges { node { value } } }`))],
  ['texts', `{ ${times(30, () => 'stateMachines { mermaid }')} }`],
])('what is too large is a typed error: %s', async (_, query) => {
  const before = await refusals(server, token, 'ANSWER_TOO_LARGE')
  expect(await ask(query)).toMatchObject({ data: null, errors: [TOO_LARGE] })
  expect(await refusals(server, token, 'ANSWER_TOO_LARGE')).toBe(before + 1)
})

test('what is not is answered', async () => {
  const { data, errors } = await ask(project('dataObjects(after: null, last: 3) { edges { node { name value } } }'))
  expect(errors).toBeUndefined()
  expect(data.project.dataObjects.edges.map(({ node }: any) => node.name)).toEqual(['one', 'three', 'two'])
  const names = await ask(project('dataObjects { edges { node { name } } }'))
  expect(names.data.project.dataObjects.edges).toHaveLength(5)
})

test('values beyond the limit are not even loaded', async () => {
  const { pool } = api.world
  const [{ id } = { id: '' }] = await loadProjects(pool, { names: ['default'] }, null)
  const load = async (backward: boolean, maxBytes: number) => {
    const window = { limit: 10, backward, after: null, before: null }
    const { pages, left } = await loadDataObjects(pool, [id], window, maxBytes)
    return {
      left,
      loaded: pages
        .get(id)
        ?.filter(({ isLoaded }) => isLoaded)
        .map(({ name }) => name),
    }
  }
  expect(await load(false, LIMIT)).toEqual({ left: 0, loaded: [] })
  expect(await load(false, LIMIT + 10)).toMatchObject({ loaded: ['large', 'nothing'] })
  expect(await load(true, LIMIT)).toEqual({ left: 0, loaded: ['nothing', 'one', 'three', 'two'] })
  expect(await load(true, 0)).toEqual({ left: 0, loaded: [] })
  const { left, loaded } = await load(true, 3 * LIMIT)
  expect(loaded).toHaveLength(5)
  expect(left).toBeGreaterThan(60 * KIB)
})

test('each event of a subscription is an answer of its own', async () => {
  await using client = createClient({ url: `${server.url}/graphql`, token })
  const root = await createRoot(api.world.pool)
  const { sequence: after } = await api.services.log.end('head')
  await write(
    api.world.pool,
    root,
    Array.from({ length: 40 }, () => change(root, { message: 'x'.repeat(4 * KIB) })),
  )
  const heard: number[] = []
  for await (const { phaseChanges } of client.subscribe(
    gql('subscription ($after: Sequence!) { phaseChanges(after: $after) { sequence message } }'),
    { after },
  )) {
    heard.push(phaseChanges.sequence)
    if (heard.length === 40) break
  }
  expect(heard.at(-1)).toBe(after + 40)
  const large = client.subscribe(
    `subscription ($after: Sequence!) { phaseChanges(after: $after) { ${times(100, () => 'message')} } }`,
    { after },
  )
  await expect(large[Symbol.asyncIterator]().next()).rejects.toMatchObject({ code: 'ANSWER_TOO_LARGE' })
})

test('specs beyond the limit are not loaded', async () => {
  const input = (name: string) => ({ name, reconcile: false, spec: { deployItems: [spacious] } })
  const spacious = { name: 'a', type: 'mock', config: { text: 'x'.repeat(40 * KIB) } }
  const ids = await Promise.all(
    ['first', 'second'].map(
      async (name) => payloadOf((await api.query(MUTATIONS.createInstallation, { input: input(name) })).answer).id,
    ),
  )
  const { pool } = api.world
  const one = await loadSpecs(pool, ids.slice(0, 1), LIMIT)
  expect(one?.specs.size).toBe(1)
  expect(one?.bytes).toBeGreaterThan(40 * KIB)
  expect(await loadSpecs(pool, ids, LIMIT)).toBeNull()
  const specs = '{ objects { edges { node { ... on Installation { spec } } } } }'
  expect(await ask(specs)).toMatchObject({ data: null, errors: [TOO_LARGE] })
})
