import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Client, createClient } from '../../src/client/index.ts'
import type { ResultOf } from '../../src/documents/typed-document.ts'
import { startCuttingProxy } from '../faults/cutting-proxy.ts'
import { startTestApp } from '../testkit/app.ts'
import { ask, present } from '../testkit/ask.ts'
import { gql } from '../testkit/gql.ts'
import { createTestDatabase, type TestDatabase } from '../testkit/postgres.ts'
import { redisUrl } from '../testkit/redis.ts'
import type { ReachableServer } from '../testkit/server.ts'
import { until } from '../testkit/wait.ts'

/** The live audit, over two gateways that share a Redis. */

const TOKEN = 'the-administrator-of-the-audited'
const EVENTS = gql(`subscription ($filter: AuditFilterInput, $after: String) {
  auditEvents(filter: $filter, after: $after) { sequence operation outcome objectName projectName }
}`)
type Event = ResultOf<typeof EVENTS>['auditEvents']
const SET_SECRET = gql(
  'mutation ($input: SetSecretInput!) { answer: setSecret(input: $input) { __typename ... on Error { message } } }',
)
const CREATE_PROJECT = gql(
  'mutation ($input: CreateProjectInput!) { answer: createProject(input: $input) { ... on Project { id } ... on Error { message } } }',
)
const CREATE_TOKEN = gql(
  'mutation ($input: CreateTokenInput!) { answer: createToken(input: $input) { ... on CreatedToken { secret } ... on Error { message } } }',
)
const HEAD = gql('{ auditChain { head { sequence } } }')

let stack: AsyncDisposableStack
let database: TestDatabase
let gateways: readonly [ReachableServer, ReachableServer]
beforeAll(async () => {
  stack = new AsyncDisposableStack()
  database = stack.use(await createTestDatabase(2))
  const env = {
    DATABASE_URL: database.url,
    REDIS_URL: redisUrl(),
    PHASELINE_ROLES: 'gateway',
    PHASELINE_ALLOWED_HOSTS: '127.0.0.1',
  }
  const start = async () => stack.use(await startTestApp({ env, token: TOKEN }))
  gateways = [await start(), await start()]
  await ask(gateways[0].client, CREATE_PROJECT, { name: 'web' })
})
afterAll(() => stack.disposeAsync())

const setSecret = (client: Client, name: string, project = 'web') =>
  ask(client, SET_SECRET, { project, name, value: 'x' })
const head = async (): Promise<number> => present((await gateways[0].client.query(HEAD)).auditChain).head.sequence

/** The events of a subscription, in order, while `work` runs and until `isDone`. */
async function received(
  client: Client,
  variables: () => { readonly filter?: object; readonly after?: string },
  work: (seen: readonly Event[]) => Promise<unknown>,
  isDone: (seen: readonly Event[]) => boolean,
): Promise<readonly Event[]> {
  const stop = new AbortController()
  const seen: Event[] = []
  const connected = Promise.withResolvers<void>()
  const options = { signal: stop.signal, onConnected: () => connected.resolve() }
  const resume = () => {
    const last = seen.at(-1)
    return last ? { ...variables(), after: String(last.sequence) } : variables()
  }
  const reading = (async () => {
    for await (const { auditEvents } of client.subscribe(EVENTS, resume, options)) {
      seen.push(auditEvents)
      if (isDone(seen)) return
    }
  })()
  try {
    await Promise.race([connected.promise.then(() => work(seen)), reading])
    await reading
  } finally {
    stop.abort()
  }
  return seen
}

test('every event comes once and in order, whichever gateway wrote it, and however often the connection is cut', async () => {
  const proxy = stack.use(await startCuttingProxy(gateways.map(({ origin }) => Number(new URL(origin).port))))
  const client = stack.use(createClient({ url: `http://127.0.0.1:${proxy.port}/graphql`, token: TOKEN }))
  const before = await head()
  const names = Array.from({ length: 30 }, (_, i) => `KEY_${i}`)
  const filter = { operation: 'setSecret' }
  const seen = await received(
    client,
    () => ({ filter, after: String(before) }),
    async (seen) => {
      for (const [i, name] of names.entries()) {
        await setSecret((gateways[i % 2] ?? gateways[0]).client, name)
        if (i % 6 !== 5) continue
        await until(() => seen.length > i - 6, { what: 'the stream goes on' })
        proxy.cutOne()
      }
    },
    (seen) => seen.length >= names.length,
  )
  expect(seen.map(({ objectName }) => objectName)).toEqual(names)
  const sequences = seen.map(({ sequence }) => sequence)
  expect(sequences).toEqual(sequences.toSorted((a, b) => a - b))
  expect(proxy.served.every((count) => count > 1)).toBe(true)
})

test('without a cursor it begins now; what another gateway writes comes too', async () => {
  const [here, there] = gateways
  const seen = await received(
    here.client,
    () => ({ filter: { operation: 'setSecret' } }),
    async (seen) => {
      // The stream is open once it brings something: what is before its begin never comes.
      await until(async () => (await setSecret(here.client, 'OPENED')) && seen.length > 0, { what: 'it is open' })
      await setSecret(there.client, 'ELSEWHERE')
      await setSecret(there.client, 'LAST')
    },
    (seen) => seen.at(-1)?.objectName === 'LAST',
  )
  expect(new Set(seen.map(({ objectName }) => objectName))).toEqual(new Set(['OPENED', 'ELSEWHERE', 'LAST']))
})

test('an administrator of a project follows its events, and the filter narrows them; others are refused', async () => {
  const [{ client: admin, url }] = gateways
  await ask(admin, CREATE_PROJECT, { name: 'theirs' })
  const as = async (role: 'ADMIN' | 'USER') => {
    const { secret } = await ask(admin, CREATE_TOKEN, { name: `${role}-of-theirs`, role, projects: ['theirs'] })
    return stack.use(createClient({ url, token: secret }))
  }
  const owner = await as('ADMIN')
  const after = String(await head())
  for (const [project, name] of [
    ['web', 'A'],
    ['theirs', 'B'],
    ['web', 'C'],
    ['theirs', 'D'],
  ] as const)
    await setSecret(admin, name, project)
  const none = () => Promise.resolve()
  const names = (seen: readonly Event[]) => seen.map(({ objectName }) => objectName)
  const theirs = await received(
    owner,
    () => ({ after }),
    none,
    (seen) => seen.length >= 2,
  )
  expect(names(theirs)).toEqual(['B', 'D'])
  const webs = await received(
    admin,
    () => ({ after, filter: { project: 'web' } }),
    none,
    (seen) => seen.length >= 2,
  )
  expect(names(webs)).toEqual(['A', 'C'])
  const refused = received(
    await as('USER'),
    () => ({ after }),
    none,
    () => false,
  )
  await expect(refused).rejects.toMatchObject({ code: 'FORBIDDEN' })
})

test('a cursor that the audit does not have ends the stream with what it has', async () => {
  const none = () => Promise.resolve()
  const [{ client }] = gateways
  const newest = await head()
  const beyond = received(
    client,
    () => ({ after: String(newest + 1_000) }),
    none,
    () => false,
  )
  await expect(beyond).rejects.toMatchObject({ code: 'CURSOR_EXPIRED' })
  const nonsense = received(
    client,
    () => ({ after: 'nonsense' }),
    none,
    () => false,
  )
  await expect(nonsense).rejects.toMatchObject({ code: 'BAD_USER_INPUT' })
})
