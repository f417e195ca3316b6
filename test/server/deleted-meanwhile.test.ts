import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Client, createClient } from '../../src/client/index.ts'
import { type Api, createApi } from '../graphql/api.ts'
import { present } from '../testkit/ask.ts'
import { gql } from '../testkit/gql.ts'

/** An object that is deleted between two statements of a read counts as deleted before. */

let api: Api
let client: Client
let url: string
let token: string
let runs = 0
beforeAll(async () => {
  api = await createApi()
  const { port } = await api.serve()
  url = `http://127.0.0.1:${port}/graphql`
  token = await api.token()
  client = createClient({ url, token })
})
afterAll(async () => {
  await client.close()
  await api[Symbol.asyncDispose]()
})

/** Two trees, one of which is deleted while `read` waits with its statement of this name. */
async function readBesideDeletion<T>(statement: string, read: (ids: string[], names: string[]) => Promise<T>) {
  runs += 1
  const names = [`goes-${runs}`, `stays-${runs}`]
  const ids: string[] = []
  for (const name of names) {
    await api.world.create(name, { installations: [{ name: 'inner', spec: {} }] })
    ids.push((await api.world.see(name, 'inner')).id)
  }
  const held = api.hold(statement)
  const reading = read(ids, names)
  await Promise.race([held.reached, reading])
  await api.world.remove((await api.world.see(names[0] as string)).id)
  expect(await api.world.exists(names[0] as string)).toBe(false)
  held.release()
  return { names, answer: await reading }
}

const NODE = gql('query ($id: ID!) { node(id: $id) { ... on TreeObject { path } } }')
const NODES = gql('query ($ids: [ID!]!) { nodes(ids: $ids) { ... on TreeObject { path } } }')
const IN_PROJECT = gql(
  'query { project(name: "default") { name } objects(first: 100) { edges { node { root { name } } } } }',
)
const LIST = gql(`query ($filter: ObjectFilter!) { objects(filter: $filter, first: 100) { edges { node { path } } } }`)

test('a node that goes is null, and the others are as they are', async () => {
  const one = await readBesideDeletion('load-paths', ([id = '']) => client.query(NODE, { id }))
  expect(one.answer).toEqual({ node: null })
  const two = await readBesideDeletion('load-paths', (ids) => client.query(NODES, { ids }))
  expect(two.answer).toEqual({ nodes: [null, { path: `${two.names[1]}/inner` }] })
})

test('a list leaves out what goes', async () => {
  const filter = { nameContains: 'inner' }
  const { answer, names } = await readBesideDeletion('load-paths', () => client.query(LIST, { filter }))
  const paths = present(answer.objects).edges.map(({ node }) => node.path)
  expect(paths).toContain(`${names[1]}/inner`)
  expect(paths).not.toContain(`${names[0]}/inner`)
})

test('a query is read again whose answer would be null elsewhere', async () => {
  const { answer, names } = await readBesideDeletion('load-objects', () => client.query(IN_PROJECT))
  expect(answer.project?.name).toBe('default')
  const roots = present(answer.objects).edges.map(({ node }) => node.root.name)
  expect([roots.includes(names[0] as string), roots.includes(names[1] as string)]).toEqual([false, true])
})

test('however many objects go, a query is read no more than twice', async () => {
  runs += 1
  const names = Array.from({ length: 6 }, (_, i) => `goes-${runs}-${i}`)
  for (const name of names) await api.world.create(name, { installations: [{ name: 'inner', spec: {} }] })
  let held = api.hold('load-paths')
  const reading = client.query(LIST, { filter: { nameContains: 'inner' } })
  let reads = 0
  for (const name of names) {
    const isRead = await Promise.race([held.reached.then(() => true), reading.then(() => false)])
    if (!isRead) break
    reads += 1
    await api.world.remove((await api.world.see(name)).id)
    const { release } = held
    held = api.hold('load-paths')
    release()
  }
  held.release()
  expect(reads).toBe(2)
  const paths = present((await reading).objects).edges.map(({ node }) => node.path)
  // An object that goes during the second read is there.
  expect(paths.filter((path) => path.startsWith(`goes-${runs}-`)).sort()).toEqual(
    names.slice(1).map((name) => `${name}/inner`),
  )
})

const CHANGES = gql(`subscription ($objectId: ID!) {
  phaseChanges(after: 0, filter: { objectId: $objectId }) { to object { path } }
}`)

test('an event of a subscription has null for what goes', async () => {
  const { answer } = await readBesideDeletion('load-paths', async ([objectId]) => {
    // A client of ours leaves out errors beside data.
    const headers = {
      accept: 'text/event-stream',
      'content-type': 'application/json',
      authorization: `Bearer ${token}`,
    }
    const body = JSON.stringify({ query: CHANGES, variables: { objectId } })
    const response = await fetch(url, { method: 'POST', headers, body })
    const event = /^data: (\{.*\})$/m
    let text = ''
    for await (const chunk of present(response.body).pipeThrough(new TextDecoderStream())) {
      text += chunk
      if (event.test(text)) break
    }
    return JSON.parse(event.exec(text)?.[1] ?? 'null') as unknown
  })
  expect(answer).toEqual({ data: { phaseChanges: { to: 'PENDING', object: null } } })
})
