import { Client as Postgres } from 'pg'
import { expect, test } from 'vitest'
import type { Client } from '../../src/client/index.ts'
import { present } from '../testkit/ask.ts'
import { gql } from '../testkit/gql.ts'
import { create } from '../testkit/mutations.ts'
import { type OwnPostgres, startOwnPostgres, startSwitch } from '../testkit/own-postgres.ts'
import { SECRET_KEY, startServer, type TestServer } from '../testkit/server.ts'
import { until } from '../testkit/wait.ts'

/** Queries go to a replica, and never see less than what was written before them, whatever becomes of the replica. */

const LIST = gql(`query ($name: String!) { objects(filter: { kinds: [INSTALLATION], nameContains: $name }, first: 10) {
  totalCount edges { node { id name } }
} }`)
const HISTORY = gql(`query ($id: ID!) { object(id: $id) { history(first: 50) { edges { node { to } } } } }`)
const TREE = gql(`query ($id: ID!) { tree(rootId: $id) { objects(first: 100) { edges { node { name phase } } } } }`)

async function run(postgres: OwnPostgres, statement: string): Promise<void> {
  const client = new Postgres(postgres.connection)
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}

/** Statements of queries, by who answered them. */
async function readsOf({ origin, token }: TestServer): Promise<Readonly<Record<string, number>>> {
  const response = await fetch(`${origin}/metrics`, { headers: { authorization: `Bearer ${token}` } })
  const found = (await response.text()).matchAll(/^phaseline_replica_reads_total\{outcome="(\w+)"\} (\d+)$/gm)
  return Object.fromEntries([...found].map(([, outcome = '', count]) => [outcome, Number(count)]))
}

let names = 0
/** Creates an installation and asks for it at once, several times. */
async function writeAndRead(client: Client, times: number): Promise<void> {
  for (let i = 0; i < times; i += 1) {
    names += 1
    const name = `root-${names}`
    await create(client, name, { deployItems: [{ name: 'one', type: 'mock' }] })
    const { objects } = await client.query(LIST, { name })
    const found = present(objects).edges.filter(({ node }) => node.name === name)
    expect(found).toHaveLength(1)
    // The log numbers changes a moment after they are written.
    await until(
      async () => (await client.query(HISTORY, { id: found[0]?.node.id ?? '' })).object?.history.edges.length,
      {
        what: 'the log has its creation',
      },
    )
    const { tree } = await client.query(TREE, { id: found[0]?.node.id ?? '' })
    expect(present(tree).objects.edges.map(({ node }) => node.name)).toContain('one')
  }
}

test('queries go to a replica, see what was written before, and go to the primary when it is behind, away or promoted', async () => {
  await using primary = await startOwnPostgres()
  await using standby = await primary.standby()
  await using toPrimary = await startSwitch(primary)
  await using toStandby = await startSwitch(standby)
  await using server = await startServer({
    env: {
      ...{ DATABASE_URL: toPrimary.url, DATABASE_READ_URL: toStandby.url },
      ...{ PHASELINE_SECRET_KEY: SECRET_KEY, PHASELINE_LOG_LEVEL: 'error' },
    },
  })
  const { client } = server
  await until(
    () =>
      run(standby, 'select from log_meta').then(
        () => true,
        () => false,
      ),
    { what: 'the standby has the tables' },
  )
  const readsUntil = (outcome: string, what: string) =>
    until(
      async () => {
        const before = (await readsOf(server))[outcome] ?? 0
        await writeAndRead(client, 1)
        return ((await readsOf(server))[outcome] ?? 0) > before
      },
      { what },
    )

  await readsUntil('replica', 'the replica answers')
  await writeAndRead(client, 20)

  await run(standby, 'select pg_wal_replay_pause()')
  await readsUntil('behind', 'the replica is behind')
  await writeAndRead(client, 3)
  await run(standby, 'select pg_wal_replay_resume()')
  await readsUntil('replica', 'the replica has caught up')

  toStandby.to(null)
  await readsUntil('away', 'the replica is away')
  await writeAndRead(client, 3)
  expect((await fetch(`${server.origin}/readyz`)).status).toBe(200)
  toStandby.to(standby)
  await readsUntil('replica', 'the replica is back')

  // It takes writes of its own from now on: nothing that it says counts.
  await run(standby, 'select pg_promote()')
  await run(standby, 'truncate object cascade')
  await readsUntil('other_history', 'the replica is none any more')
  await writeAndRead(client, 3)
})
