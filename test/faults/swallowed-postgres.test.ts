import { createClient as createSocketClient } from 'graphql-ws'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { createClient, type PhaseChange, runAgent } from '../../src/client/index.ts'
import { ask } from '../testkit/ask.ts'
import { MUTATIONS } from '../testkit/documents.ts'
import { gql } from '../testkit/gql.ts'
import { expectLegal } from '../testkit/legal-log.ts'
import { create, items, show } from '../testkit/mutations.ts'
import { createTestDatabase } from '../testkit/postgres.ts'
import { SECRET_KEY, startServer, type TestServer } from '../testkit/server.ts'
import { PATIENCE_MS, until } from '../testkit/wait.ts'
import { type SwallowingProxy, startSwallowingProxy } from './swallowing-proxy.ts'

/** A Postgres that keeps its connections open and says nothing on them, under a server at work. */

const SILENCE_MS = 1_000
const CONNECT_MS = 1_000
const POOL_MS = 2_000
/** All waits that a request may have in turn, several times over for a slow machine. */
const ANSWERED_MS = 5 * (POOL_MS + SILENCE_MS + CONNECT_MS)

const QUERY = gql('{ objects(first: 1) { totalCount } }')
const stack = new AsyncDisposableStack()
let proxy: SwallowingProxy
let server: TestServer

beforeAll(async () => {
  const { connection } = stack.use(await createTestDatabase(2))
  proxy = stack.use(await startSwallowingProxy(`${connection.host}/.s.PGSQL.${connection.port}`))
  server = stack.use(
    await startServer({
      env: {
        DATABASE_URL: `postgresql://${connection.user}@127.0.0.1:${proxy.port}/${connection.database}`,
        PHASELINE_ROLES: 'gateway,engine',
        PHASELINE_SECRET_KEY: SECRET_KEY,
        PHASELINE_DATABASE_SILENCE_MS: String(SILENCE_MS),
        PHASELINE_DATABASE_CONNECT_TIMEOUT_MS: String(CONNECT_MS),
        PHASELINE_DATABASE_POOL_TIMEOUT_MS: String(POOL_MS),
      },
    }),
  )
})
afterAll(() => stack.disposeAsync())

interface Answer {
  readonly status: number
  readonly retryAfter: string | null
  readonly errors: readonly { readonly extensions: Readonly<Record<string, unknown>> }[]
  readonly ms: number
}

async function post(query: { toString(): string }, variables: object = {}): Promise<Answer> {
  const since = performance.now()
  const response = await fetch(server.url, {
    method: 'POST',
    headers: { authorization: `Bearer ${server.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ query: String(query), variables }),
  })
  const { errors = [] } = (await response.json()) as { errors?: Answer['errors'] }
  return {
    status: response.status,
    retryAfter: response.headers.get('retry-after'),
    errors,
    ms: performance.now() - since,
  }
}

const ready = async (): Promise<number> => (await fetch(`${server.origin}/readyz`)).status
const creation = (name: string) => ({ input: { name, spec: items(2), idempotencyKey: name } })

test('everything in flight is answered, nothing is lost, and the service is back by itself', async () => {
  const { client } = server
  const stop = new AbortController()
  const received: PhaseChange[] = []
  const following = (async () => {
    for await (const { changes } of client.followPhases({ after: 0, signal: stop.signal })) received.push(...changes)
  })()
  const { secret } = await ask(client, MUTATIONS.createToken, { name: 'steady', role: 'AGENT', types: ['mock'] })
  const agentClient = createClient({ url: server.url, token: secret })
  const agent = runAgent({
    ...{ client: agentClient, instance: 'steady', types: ['mock'], signal: stop.signal },
    work: () => ({ phase: 'SUCCEEDED' }),
    onProblem: () => undefined,
  })
  const first = await create(client, 'before', items(2))
  await until(async () => (await show(client, first))?.finished, { what: 'the first tree is done' })
  // Operations over WebSockets, on one that is open.
  const socket = createSocketClient({
    url: server.url.replace('http', 'ws'),
    webSocketImpl: WebSocket,
    connectionParams: { authorization: `Bearer ${server.token}` },
    lazy: false,
    retryAttempts: 0,
  })
  const overSocket = async (): Promise<unknown> => {
    try {
      for await (const { errors } of socket.iterate({ query: String(QUERY) })) return errors
      return null
    } catch (error) {
      return error
    }
  }
  expect(await overSocket()).toBeUndefined()

  const before = server.output().length
  const away = proxy.swallow()
  const since = performance.now()
  const mutations = Array.from({ length: 12 }, (_, i) => post(MUTATIONS.createInstallation, creation(`during-${i}`)))
  const queries = Array.from({ length: 12 }, () => post(QUERY))
  const operation = overSocket()
  const answers = await Promise.all([...mutations, ...queries])
  for (const answer of answers) {
    expect(answer).toMatchObject({ status: 503, retryAfter: '1' })
    // A request that found all connections of a pool in use gets the name of the pool as well.
    const { pool: _, ...extensions } = answer.errors[0]?.extensions ?? {}
    expect(extensions).toEqual({ code: 'SERVICE_UNAVAILABLE', retryable: true, retryAfterMs: 1_000 })
    expect(answer.ms).toBeLessThan(ANSWERED_MS)
  }
  expect(await operation).toMatchObject([
    { extensions: { code: 'SERVICE_UNAVAILABLE', retryable: true, retryAfterMs: 1_000 } },
  ])
  // Later requests are refused at once, since the outage is known.
  await until(() => server.output().includes('the database cannot be reached'), { what: 'the outage is known' })
  const times: number[] = []
  for (const n of [1, 2, 3]) {
    const late = await post(MUTATIONS.createInstallation, creation(`late-${n}`))
    expect(late.status).toBe(503)
    times.push(late.ms)
  }
  // A machine may stand still under one of them.
  expect(Math.min(...times)).toBeLessThan(3 * (SILENCE_MS + CONNECT_MS))
  expect(await ready()).toBe(503)
  await expect(client.query(QUERY)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE', retryable: true, status: 503 })

  away[Symbol.dispose]()
  await until(async () => (await ready()) === 200, { what: 'it is ready again' })
  // A refused mutation may have been done, so it is repeated with its key.
  for (const [i] of mutations.entries()) {
    await until(async () => (await post(MUTATIONS.createInstallation, creation(`during-${i}`))).status === 200, {
      what: 'the same mutation is accepted',
    })
  }
  const names = await client.query(gql('{ objects(first: 100) { edges { node { id name finished } } } }'))
  const roots = names.objects?.edges.flatMap(({ node }) => (node.name.startsWith('during-') ? [node.name] : [])) ?? []
  expect(roots.toSorted()).toEqual(mutations.map((_, i) => `during-${i}`).toSorted())
  await until(
    async () => {
      const { objects } = await client.query(gql('{ objects(first: 100) { edges { node { finished } } } }'))
      return objects?.edges.every(({ node }) => node.finished)
    },
    { what: 'engine and agent have done all of it' },
  )
  const { log } = await client.query(gql('{ log { head } }'))
  await until(() => received.at(-1)?.sequence === log?.head, { what: 'the subscription has all of it' })
  expectLegal(received)

  const seconds = Math.ceil((performance.now() - since) / 1_000)
  const texts = server.output().slice(before).trim().split('\n').flatMap(messageOf)
  const begun = texts.filter((text) => text.startsWith('the database cannot be reached'))
  expect(begun.length).toBeGreaterThan(0)
  expect(texts.filter((text) => text === 'the database is reachable again')).toHaveLength(begun.length)
  expect(texts.length).toBeLessThanOrEqual(seconds + 1)
  expect(server.output()).not.toMatch(/"stack"|defect/)
  stop.abort()
  await Promise.all([following, agent, socket.dispose()])
  await agentClient.close()
})

const messageOf = (line: string): readonly string[] => (line.startsWith('{') ? [JSON.parse(line).msg] : [])

test('ends in bounded time while its Postgres is silent', async () => {
  await until(async () => (await ready()) === 200, { what: 'it is ready' })
  using _ = proxy.swallow()
  const since = performance.now()
  const interrupted = post(MUTATIONS.createInstallation, creation('at-the-end')).catch((error: unknown) => error)
  expect(await server.stop()).toBe(0)
  expect(performance.now() - since).toBeLessThan(PATIENCE_MS / 2)
  await interrupted
})
