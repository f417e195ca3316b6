import { expect, test } from 'vitest'
import { type Client, ClientError } from '../../src/client/index.ts'
import { startTestApp } from '../testkit/app.ts'
import { ask, present } from '../testkit/ask.ts'
import { gql } from '../testkit/gql.ts'
import { copyDatabase, createTestDatabase, replaceDatabase } from '../testkit/postgres.ts'
import { until } from '../testkit/wait.ts'

/** Readers of the audit get an error when the database becomes a copy that lacks events they have read. */

const EVENTS = gql(`subscription ($filter: AuditFilter, $after: String) {
  auditEvents(filter: $filter, after: $after) { sequence cursor objectName }
}`)
const LIST = gql(`query ($filter: AuditFilter, $before: String) {
  auditLog(filter: $filter, last: 10, before: $before) { edges { cursor node { sequence cursor objectName } } }
}`)
const SET_SECRET = gql(
  'mutation ($input: SetSecretInput!) { answer: setSecret(input: $input) { __typename ... on Error { message } } }',
)
const CREATE_PROJECT = gql(
  'mutation ($input: CreateProjectInput!) { answer: createProject(input: $input) { ... on Project { id } ... on Error { message } } }',
)

const filter = { operation: 'setSecret', outcome: 'DONE' } as const
const listed = async (client: Client, before: string | null) =>
  present((await client.query(LIST, { filter, before })).auditLog).edges

test('a cursor names its event, so that a reader is told of a restored audit even where it is as long', async () => {
  await using database = await createTestDatabase(2)
  await using server = await startTestApp({ env: { DATABASE_URL: database.url, PHASELINE_ROLES: 'gateway' } })
  const { client } = server
  const set = (name: string) => ask(client, SET_SECRET, { project: 'web', name, value: 'x' })
  await ask(client, CREATE_PROJECT, { name: 'web' })
  for (const name of ['KEPT_1', 'KEPT_2']) await set(name)
  const kept = present((await listed(client, null)).at(0))
  expect(kept).toMatchObject({ cursor: kept.node.cursor, node: { objectName: 'KEPT_2' } })
  await using copy = await copyDatabase(database, 2)
  for (const name of ['LOST_1', 'LOST_2', 'LOST_3']) await set(name)

  const seen: string[] = []
  const cursors: string[] = []
  const following = (async () => {
    const place = () => ({ filter, after: cursors.at(-1) ?? kept.cursor })
    for await (const { auditEvents: event } of client.subscribe(EVENTS, place)) {
      seen.push(event.objectName ?? '')
      cursors.push(event.cursor)
    }
  })().catch((error: unknown) => error)
  await until(() => seen.length === 3, { what: 'the lost ones are read' })

  await replaceDatabase(database, copy)
  // Connections that were cut make an error of whatever was asked over them.
  for (const name of ['NEW_1', 'NEW_2', 'NEW_3', 'NEW_4'])
    await until(
      () =>
        set(name).then(
          () => true,
          () => false,
        ),
      { what: `${name} is set` },
    )
  expect(await following).toMatchObject({ code: 'CURSOR_EXPIRED' })
  expect(seen).toEqual(['LOST_1', 'LOST_2', 'LOST_3'])

  const lost = present(cursors[0])
  await expect(listed(client, lost)).rejects.toSatisfy(
    (error) => error instanceof ClientError && error.code === 'CURSOR_EXPIRED',
  )
  const names = async (before: string) => (await listed(client, before)).map(({ node }) => node.objectName)
  expect(await names(kept.cursor)).toEqual(['NEW_4', 'NEW_3', 'NEW_2', 'NEW_1'])
  // A bare number does not show which copy it comes from, so its holder gets no error.
  expect((await names(String(kept.node.sequence + 1))).length).toBe(3)
})
