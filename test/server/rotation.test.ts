import { createHmac } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { families } from '../../src/families/index.ts'
import { startTestApp } from '../testkit/app.ts'
import { payloadOf } from '../testkit/ask.ts'
import { gql } from '../testkit/gql.ts'
import { createTestDatabase, type TestDatabase } from '../testkit/postgres.ts'
import type { ReachableServer } from '../testkit/server.ts'
import { until } from '../testkit/wait.ts'

/** Servers on one database that are given tokens of the administrator, one after the other. */

let database: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase(1)
})
afterAll(() => database[Symbol.asyncDispose]())

const PRINCIPALS = gql('{ principals { id name role builtIn } }')
const CREATE = gql(
  'mutation { createToken(input: { name: "eve", role: ADMIN }) { ... on CreatedToken { secret } ... on Error { message } } }',
)

const secretOf = (name: string): string => `token-of-the-administrator-${name}`
/** As servers derive them. */
const agentsOf = (administrator: string): readonly string[] =>
  families.flatMap(({ agents }) =>
    agents.map(({ purpose }) => createHmac('sha256', administrator).update(purpose).digest('base64url')),
  )

function start(name: string, env: Readonly<Record<string, string>> = {}): Promise<ReachableServer> {
  const settings = { DATABASE_URL: database.url, PHASELINE_ROLES: 'gateway,engine', ...env }
  return startTestApp({ token: secretOf(name), env: settings })
}

async function isAccepted({ url }: ReachableServer, secret: string): Promise<boolean> {
  const { status } = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${secret}` },
    body: '{"query":"{ viewer { name } }"}',
  })
  return status === 200
}
const accepts = async (server: ReachableServer, secrets: readonly string[]): Promise<readonly boolean[]> =>
  Promise.all(secrets.map((secret) => isAccepted(server, secret)))

test('a start with another PHASELINE_TOKEN revokes the one before, and the tokens of agents that came from it', async () => {
  const earlier = [secretOf('first'), ...agentsOf(secretOf('first'))]
  await using running = await start('first')
  expect(await accepts(running, earlier)).toEqual(earlier.map(() => true))

  await using next = await start('second')
  expect(await accepts(next, earlier)).toEqual(earlier.map(() => false))
  const own = [secretOf('second'), ...agentsOf(secretOf('second'))]
  expect(await accepts(next, own)).toEqual(own.map(() => true))
  // The other process hears of it.
  await until(async () => !(await accepts(running, earlier)).includes(true), { what: 'it refuses them' })
  // Both say so: it may be a server that should have a database of its own.
  expect(running.output()).not.toContain('taken the place')
  expect(next.output()).toMatch(/"level":40.*has taken the place of another one/)
  await until(() => /"level":50.*PHASELINE_TOKEN of this process was revoked/.test(running.output()), {
    what: 'it says so',
  })

  await expect(start('first')).rejects.toThrow(/PHASELINE_TOKEN is revoked since \d{4}-.*set the present one/)
  // A refused start changes nothing.
  expect(await isAccepted(next, secretOf('second'))).toBe(true)
})

test('PHASELINE_PREVIOUS_TOKEN keeps the one before until a start does without', async () => {
  await using old = await start('third')
  const both = [secretOf('third'), ...agentsOf(secretOf('third')), secretOf('fourth')]
  await using changed = await start('fourth', { PHASELINE_PREVIOUS_TOKEN: secretOf('third') })
  expect(await accepts(changed, both)).toEqual(both.map(() => true))
  // A process that is not changed yet starts again, and revokes nothing that is newer.
  await using again = await start('third')
  expect(await accepts(again, both)).toEqual(both.map(() => true))

  await using done = await start('fourth')
  expect(await accepts(done, both)).toEqual(both.map((secret) => secret === secretOf('fourth')))
  await until(async () => !(await isAccepted(old, secretOf('third'))), { what: 'all refuse it' })
})

test('the principals stay the same, so that agents with new tokens go on with their work', async () => {
  const builtIn = async ({ client }: ReachableServer): Promise<readonly object[]> => {
    const { principals } = await client.query(PRINCIPALS)
    return principals?.filter((one) => one.builtIn) ?? []
  }
  await using server = await start('fifth')
  const before = await builtIn(server)
  expect(before).toContainEqual({ id: expect.any(String), name: 'admin', role: 'ADMIN', builtIn: true })
  expect(before).toHaveLength(4)
  await using next = await start('sixth')
  expect(await builtIn(next)).toEqual(before)
})

test('a token of somebody else cannot be the one of the administrator', async () => {
  await using server = await start('seventh')
  const { secret: token } = payloadOf((await server.client.query(CREATE)).createToken)
  const starting = startTestApp({ token, env: { DATABASE_URL: database.url } })
  await expect(starting).rejects.toThrow('PHASELINE_TOKEN is a token of the principal eve already')
})
