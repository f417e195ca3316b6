import type { Client } from '../store/client.ts'
import { array, text, timestamptz, uuid } from '../store/column-types.ts'
import type { Identity } from '../store/principals.ts'
import { statement } from '../store/statement.ts'
import * as table from '../store/tables.ts'

/** Principals of people whom issuers sign in: one for each issuer and subject. */

export interface NewIdentity extends Identity {
  readonly id: string
  readonly name: string
  readonly createdAt: Date
}

const FIND = statement({
  text: `select id, name, deleted_at as "deletedAt" from principal where issuer = $1 and subject = $2`,
  params: [text, text],
  row: { id: table.principal.id, name: table.principal.name, deletedAt: table.principal.deletedAt },
})
const INSERT = statement({
  text: `insert into principal (id, name, actor, administrator, created_at, issuer, subject)
    values ($1, $2, 'USER', false, $3, $4, $5) on conflict (issuer, subject) do nothing`,
  params: [uuid, text, timestamptz, text, text],
})
/** A principal that others have locked is renamed when it calls again. */
const RENAME = statement({
  text: `update principal set name = $2 where id = (select id from principal where id = $1 for no key update skip locked)`,
  params: [uuid, text],
})

/** The id of its principal, which is created at first sight. Null: an administrator has deleted it. */
export async function ensureIdentity(client: Client, wanted: NewIdentity): Promise<string | null> {
  const { issuer, subject, id, name, createdAt } = wanted
  const found = await find(client, wanted)
  if (!found) {
    await INSERT.query(client, [id, name, createdAt, issuer, subject])
    return (await find(client, wanted))?.id ?? null
  }
  if (found.deletedAt) return null
  if (found.name !== name) await RENAME.query(client, [found.id, name])
  return found.id
}

const find = async (client: Client, { issuer, subject }: Identity) =>
  (await FIND.query(client, [issuer, subject])).rows[0] ?? null

const PROJECT_IDS = statement({
  text: 'select id, name from project where name = any($1)',
  params: [array(text)],
  row: { id: table.project.id, name: table.project.name },
})

/** Ids of the projects that have these names now. */
export async function projectIdsOf(client: Client, names: readonly string[]): Promise<ReadonlyMap<string, string>> {
  if (names.length === 0) return new Map()
  const { rows } = await PROJECT_IDS.query(client, [names])
  return new Map(rows.map(({ id, name }) => [name, id]))
}
