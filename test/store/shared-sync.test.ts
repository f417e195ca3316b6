import type { PoolClient } from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { createTestDatabase } from '../testkit/postgres.ts'

/** A connection with a table of numbers, and a count of the Syncs that were answered on it. */
async function connected(): Promise<{ client: PoolClient; synced: () => number }> {
  const database = await createTestDatabase()
  onTestFinished(() => database[Symbol.asyncDispose]())
  const client = await database.pool.connect()
  onTestFinished(() => client.release())
  await client.query('create temp table number (n int primary key)')
  let syncs = 0
  const { connection } = client as object as { readonly connection: NodeJS.EventEmitter }
  connection.on('readyForQuery', () => void syncs++)
  return { client, synced: () => syncs }
}
const begin = (client: PoolClient) => client.query({ name: 'begin', text: 'begin' })
const commit = (client: PoolClient) => client.query({ name: 'commit', text: 'commit' })
const insert = (client: PoolClient, n: unknown) =>
  client.query({ name: 'insert', text: 'insert into number values ($1) returning n', values: [n] })
const numbers = async (client: PoolClient) =>
  (await client.query<{ n: number }>('select n from number order by n')).rows.map(({ n }) => n)

test('statements that a transaction sends in one turn share a Sync, and each has its own result', async () => {
  const { client, synced } = await connected()
  const sent = [begin(client), ...[1, 2, 3].map((n) => insert(client, n)), commit(client)]
  const results = await Promise.all(sent)
  expect(results.map(({ command, rows }) => [command, ...rows])).toEqual([
    ['BEGIN'],
    ...[1, 2, 3].map((n) => ['INSERT', { n }]),
    ['COMMIT'],
  ])
  expect(synced()).toBe(2)
  // Statements after the commit are no part of the transaction.
  await Promise.all([begin(client), insert(client, 4), commit(client), insert(client, 5)])
  expect(synced()).toBe(5)
  expect(await numbers(client)).toEqual([1, 2, 3, 4, 5])
})

test('after one that fails the rest of its turn fails with the same error, and the connection goes on', async () => {
  const { client } = await connected()
  const of = (name: string, text: string) => client.query({ name, text })
  const sent = [begin(client), insert(client, 1), insert(client, 1), of('later', 'select 1 as one'), commit(client)]
  const results = await Promise.allSettled(sent)
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'rejected', 'fulfilled'])
  const reasons = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []))
  for (const reason of reasons) expect(reason).toMatchObject({ code: '23505' })
  await client.query('rollback')
  expect(await numbers(client)).toEqual([])
  // Postgres has never seen the statement that it skipped.
  await begin(client)
  expect((await of('later', 'select 1 as one')).rows).toEqual([{ one: 1 }])
  await commit(client)
})

test('one whose values cannot be sent fails alone', async () => {
  const { client } = await connected()
  await insert(client, 0)
  const circular: { self?: object } = {}
  circular.self = circular
  const results = await Promise.allSettled([
    begin(client),
    insert(client, 1),
    client.query({ name: 'insert json', text: 'select $1::jsonb', values: [circular] }),
    insert(client, 2),
    commit(client),
  ])
  expect(results.map(({ status }) => status)).toEqual([
    ...['fulfilled', 'fulfilled', 'rejected', 'fulfilled', 'fulfilled'],
  ])
  expect(await numbers(client)).toEqual([0, 1, 2])
})

test('outside of a transaction a statement that fails takes none with it', async () => {
  const { client } = await connected()
  const results = await Promise.allSettled([insert(client, 1), insert(client, 1), insert(client, 2)])
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  expect(await numbers(client)).toEqual([1, 2])
})

test('a query of the simple protocol is answered between those of a transaction', async () => {
  const { client } = await connected()
  const results = await Promise.all([
    begin(client),
    insert(client, 1),
    client.query('select 7 as seven'),
    insert(client, 2),
    commit(client),
  ])
  expect(results.map(({ rows }) => rows)).toEqual([[], [{ n: 1 }], [{ seven: 7 }], [{ n: 2 }], []])
})
