import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { verifyChain } from '../../src/chain-hash.ts'
import { createClient } from '../../src/client/index.ts'
import { auditAnchor, auditBetween, auditHead } from '../../src/store/audit.ts'
import { ask } from '../testkit/ask.ts'
import { gql } from '../testkit/gql.ts'
import { createTestDatabase } from '../testkit/postgres.ts'
import { seeded } from '../testkit/seed.ts'
import { startServer } from '../testkit/server.ts'
import { soak } from '../testkit/soak.ts'
import { until } from '../testkit/wait.ts'

const random = seeded()

const KILLS = soak(2, 40)
const WRITERS = 4

const SET_SECRET = gql(
  'mutation ($input: SetSecretInput!) { answer: setSecret(input: $input) { __typename ... on Error { message } } }',
)
const CREATE_PROJECT = gql(
  'mutation ($input: CreateProjectInput!) { answer: createProject(input: $input) { ... on Project { id } ... on Error { message } } }',
)
const CREATE_TOKEN = gql(
  'mutation ($input: CreateTokenInput!) { answer: createToken(input: $input) { ... on CreatedToken { secret } ... on Error { message } } }',
)
const CREATE_INSTALLATION = gql(
  'mutation ($input: CreateInstallationInput!) { answer: createInstallation(input: $input) { ... on Installation { id } ... on Error { message } } }',
)
const CHAIN = gql('{ auditChain { head { sequence } } }')

test('kill -9 while changes are written: each has its event, no event is without its change, and the chain holds', {
  timeout: 60_000 + KILLS * 15_000,
}, async () => {
  await using database = await createTestDatabase(4)
  await using server = await startServer({
    env: { DATABASE_URL: database.url, PHASELINE_ROLES: 'gateway,engine' },
  })
  await server.client.query(CREATE_PROJECT, { input: { name: 'killed' } })
  const acknowledged = new Set<string>()
  const stop = new AbortController()
  const write = async (writer: number): Promise<void> => {
    await using client = createClient({ url: server.url, token: server.token })
    for (let i = 0; !stop.signal.aborted; i++) {
      const name = `w${writer}-${i}`
      const done = await Promise.allSettled([
        ask(client, CREATE_INSTALLATION, { project: 'killed', name, spec: {} }),
        ask(client, CREATE_PROJECT, { name }),
        ask(client, SET_SECRET, { project: 'killed', name: name.toUpperCase().replace('-', '_'), value: 'x' }),
        ask(client, CREATE_TOKEN, { name, role: 'READER' }),
      ])
      // A mutation that was cut may have been done or not; an acknowledged one must have been.
      if (done[0].status === 'fulfilled') acknowledged.add(name)
      if (done.some(({ status }) => status === 'rejected')) await delay(100)
    }
  }
  const writing = Promise.all(Array.from({ length: WRITERS }, (_, i) => write(i)))
  for (let kills = 0; kills < KILLS; kills++) {
    const before = acknowledged.size
    await until(() => acknowledged.size > before + 2, { what: 'changes are written' })
    await delay(random() * 100)
    await server.kill()
    await server.start()
  }
  stop.abort()
  await writing
  await until(() => server.client.query(CHAIN).catch(() => null), { what: 'the server answers' })

  const { pool } = database
  const idsOf = async (sql: string) => new Set((await pool.query<{ key: string }>(sql)).rows.map(({ key }) => key))
  const done = (operation: string, column: string) =>
    idsOf(`select ${column}::text as key from audit_event where operation = '${operation}' and outcome = 'DONE'`)
  expect(await done('setSecret', 'object_name')).toEqual(await idsOf('select name as key from secret'))
  expect(await done('createProject', 'object_name')).toEqual(
    await idsOf("select name as key from project where name <> 'default'"),
  )
  expect(await done('createToken', 'object_id')).toEqual(
    await idsOf("select id::text as key from token where name <> 'PHASELINE_TOKEN'"),
  )
  const installations = await idsOf("select name as key from object where kind = 'INSTALLATION'")
  expect(acknowledged.difference(installations)).toEqual(new Set())
  expect(await done('createInstallation', 'object_id')).toEqual(
    await idsOf("select id::text as key from object where kind = 'INSTALLATION'"),
  )

  const [anchor, head] = [await auditAnchor(pool), await auditHead(pool)]
  const everything = {
    ...{ projects: null, principalId: null, tokenId: null, operation: null, project: null },
    ...{ objectId: null, outcome: null, since: null, until: null },
  }
  const all = await auditBetween(pool, everything, { after: 0, through: head.sequence, limit: 1_000_000 })
  expect(all.length).toBeGreaterThan(acknowledged.size)
  expect(verifyChain(anchor, all)).toEqual(head)
  expect((await pool.query('select 1 from audit_event where sequence is null')).rowCount).toBe(0)
})
