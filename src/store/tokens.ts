import type { Viewer } from '../core/ports/viewer.ts'
import type { Client } from './client.ts'
import { array, bytea, nullable, text, textOf, timestamptz, uuid } from './column-types.ts'
import { statement } from './statement.ts'
import * as table from './tables.ts'

/** Who may call, as the store has it. The hash is SHA-256 of a secret that is kept nowhere. */
export interface TokenRow extends Omit<Viewer, 'tokenId' | 'eventId'> {
  readonly id: string
  readonly createdAt: Date
  /** Null: never. */
  readonly expiresAt: Date | null
}

const SELECTION =
  't.id, t.name, t.role, t.actor, t.projects, t.types, t.targets, t.created_at as "createdAt", t.expires_at as "expiresAt"'

const FIND_TOKEN = statement({
  text: `select ${SELECTION}, t.hash from token t where t.hash = $1`,
  params: [bytea],
  row: {
    id: table.token.id,
    name: table.token.name,
    role: textOf<TokenRow['role']>(),
    actor: table.token.actor,
    projects: nullable(table.token.projects),
    types: nullable(table.token.types),
    targets: nullable(table.token.targets),
    createdAt: table.token.createdAt,
    expiresAt: table.token.expiresAt,
    hash: table.token.hash,
  },
})

export async function findToken(client: Client, hash: Buffer): Promise<(TokenRow & { readonly hash: Buffer }) | null> {
  const { rows } = await FIND_TOKEN.query(client, [hash])
  return rows[0] ?? null
}

const INSERT_TOKEN = statement({
  text: `insert into token (id, hash, name, role, actor, projects, types, targets, created_at, expires_at)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) on conflict (hash) do nothing`,
  params: [
    uuid,
    bytea,
    text,
    text,
    table.actor,
    nullable(array(text)),
    nullable(array(text)),
    nullable(array(text)),
    timestamptz,
    nullable(timestamptz),
  ],
})

/** A secret that has a token keeps it. */
export async function insertToken(client: Client, row: TokenRow, hash: Buffer): Promise<void> {
  await INSERT_TOKEN.query(client, [
    row.id,
    hash,
    row.name,
    row.role,
    row.actor,
    row.projects,
    row.types,
    row.targets,
    row.createdAt,
    row.expiresAt,
  ])
}

const DELETE_TOKEN = statement({ text: 'delete from token where id = $1', params: [uuid] })

/** False: there was none. */
export async function deleteToken(client: Client, id: string): Promise<boolean> {
  const { rowCount } = await DELETE_TOKEN.query(client, [id])
  return rowCount === 1
}

const LIST_TOKENS = statement({
  text: `select ${SELECTION} from token t order by t.id desc limit 500`,
  row: {
    id: table.token.id,
    name: table.token.name,
    role: textOf<TokenRow['role']>(),
    actor: table.token.actor,
    projects: nullable(table.token.projects),
    types: nullable(table.token.types),
    targets: nullable(table.token.targets),
    createdAt: table.token.createdAt,
    expiresAt: table.token.expiresAt,
  },
})

/** The newest first, at most 500. */
export async function listTokens(client: Client): Promise<readonly TokenRow[]> {
  const { rows } = await LIST_TOKENS.query(client, [])
  return rows
}
