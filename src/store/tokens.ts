import type { Client } from './client.ts'
import { array, boolean, bytea, nullable, text, timestamptz, uuid } from './column-types.ts'
import { isWithin, PRINCIPAL, PRINCIPAL_COLUMNS, type PrincipalRow, toPrincipal } from './principals.ts'
import { statement } from './statement.ts'
import * as table from './tables.ts'

/** A caller's token, as the store has it. The hash is SHA-256 of a secret that is stored nowhere. */
export interface TokenRow {
  readonly id: string
  readonly name: string
  readonly createdAt: Date
  /** Null: never. */
  readonly expiresAt: Date | null
  /** To a minute; null: never. */
  readonly lastUsedAt: Date | null
  /** Null: it is not revoked. */
  readonly revokedAt: Date | null
  readonly principal: PrincipalRow
}

const COLUMNS = `t.id, t.name, t.created_at as "createdAt", t.expires_at as "expiresAt", t.last_used_at as "lastUsedAt",
  t.revoked_at as "revokedAt", ${PRINCIPAL_COLUMNS}`
const ROW = {
  id: table.token.id,
  name: table.token.name,
  createdAt: table.token.createdAt,
  expiresAt: table.token.expiresAt,
  lastUsedAt: table.token.lastUsedAt,
  revokedAt: table.token.revokedAt,
  ...PRINCIPAL,
}
type Columns = Omit<TokenRow, 'principal'> & Parameters<typeof toPrincipal>[0]

const toToken = (row: Columns): TokenRow => ({
  id: row.id,
  name: row.name,
  createdAt: row.createdAt,
  expiresAt: row.expiresAt,
  lastUsedAt: row.lastUsedAt,
  revokedAt: row.revokedAt,
  principal: toPrincipal(row),
})

const FIND = statement({
  text: `select t.hash, ${COLUMNS} from token t join principal p on p.id = t.principal_id where t.hash = $1`,
  params: [bytea],
  row: { hash: table.token.hash, ...ROW },
})

/** Also one that is revoked. Every request of a token that is not cached waits for this answer. */
export async function findToken(client: Client, hash: Buffer): Promise<(TokenRow & { readonly hash: Buffer }) | null> {
  const { rows } = await FIND.query(client, [hash])
  const [row] = rows
  return row ? { ...toToken(row), hash: row.hash } : null
}

const HAS_ADMINISTRATOR = statement({
  text: `select exists (select from token t join principal p on p.id = t.principal_id
    where p.administrator and p.deleted_at is null and t.revoked_at is null
      and (t.expires_at is null or t.expires_at > clock_timestamp())) as found`,
  row: { found: boolean },
})

/** Whether the instance can be administered with a token of its own. */
export async function hasAdministrator(client: Client): Promise<boolean> {
  const { rows } = await HAS_ADMINISTRATOR.query(client, [])
  return rows[0]?.found === true
}

const LIST = statement({
  text: `select ${COLUMNS} from token t join principal p on p.id = t.principal_id
    where ${isWithin('$1')} order by t.id desc limit 500`,
  params: [nullable(array(uuid))],
  row: ROW,
})

/** Tokens of principals with grants in these projects only; null: of all. The newest first, at most 500, also revoked ones. */
export async function listTokens(client: Client, projects: readonly string[] | null): Promise<readonly TokenRow[]> {
  const { rows } = await LIST.query(client, [projects])
  return rows.map(toToken)
}

const LIST_OF = statement({
  text: `select ${COLUMNS} from unnest($1::uuid[]) k(id) cross join lateral (
      select * from token where principal_id = k.id order by id desc limit 50
    ) t join principal p on p.id = t.principal_id order by t.id desc`,
  params: [array(uuid)],
  row: ROW,
})

/** The newest 50 tokens of each principal, also revoked ones. */
export async function listTokensOf(client: Client, principalIds: readonly string[]): Promise<readonly TokenRow[]> {
  const { rows } = await LIST_OF.query(client, [principalIds])
  return rows.map(toToken)
}

const LOCK = statement({
  text: `select ${COLUMNS} from token t join principal p on p.id = t.principal_id where t.id = $1 for no key update`,
  params: [uuid],
  row: ROW,
})

/** Locks a token and its principal. Null: there is none. */
export async function lockToken(client: Client, id: string): Promise<TokenRow | null> {
  const { rows } = await LOCK.query(client, [id])
  return rows[0] ? toToken(rows[0]) : null
}

export interface NewTokenRow {
  readonly id: string
  readonly principalId: string
  readonly name: string
  readonly createdAt: Date
  readonly expiresAt: Date | null
  /** Id of the token from whose secret this one's is derived. */
  readonly derivedFrom: string | null
}
const INSERT = statement({
  text: `insert into token (id, principal_id, name, hash, created_at, expires_at, derived_from)
    values ($1, $2, $3, $4, $5, $6, $7) on conflict (hash) do nothing`,
  params: [uuid, uuid, text, bytea, timestamptz, nullable(timestamptz), nullable(uuid)],
})

/** A secret that has a token already keeps it. */
export async function insertToken(client: Client, token: NewTokenRow, hash: Buffer): Promise<void> {
  const { id, principalId, name, createdAt, expiresAt, derivedFrom } = token
  await INSERT.query(client, [id, principalId, name, hash, createdAt, expiresAt, derivedFrom])
}

const REVOKE = statement({
  text: 'update token set revoked_at = $2 where revoked_at is null and (id = $1 or derived_from = $1)',
  params: [uuid, timestamptz],
})

/** Revokes a token, and those that are derived from it. */
export async function revokeToken(client: Client, id: string, now: Date): Promise<void> {
  await REVOKE.query(client, [id, now])
}

const REVOKE_OF = statement({
  text: 'update token set revoked_at = $2 where revoked_at is null and principal_id = $1',
  params: [uuid, timestamptz],
})

export async function revokeTokensOf(client: Client, principalId: string, now: Date): Promise<void> {
  await REVOKE_OF.query(client, [principalId, now])
}

const REVOKE_OLDER = statement({
  text: `with older as (
      select t.id from token t join token own on own.id = $1
      where t.principal_id = own.principal_id and (t.created_at, t.id) < (own.created_at, own.id) and t.hash <> all($2)
    )
    update token t set revoked_at = $3 from older o where t.revoked_at is null and o.id in (t.id, t.derived_from)
    returning t.id`,
  params: [uuid, array(bytea), timestamptz],
  row: { id: uuid },
})

/** Revokes the older tokens of the same principal, and those that are derived from them. Returns the ids of all. */
export async function revokeOlderTokens(
  client: Client,
  { id }: Pick<TokenRow, 'id'>,
  { spared, now }: { readonly spared: readonly Buffer[]; readonly now: Date },
): Promise<readonly string[]> {
  const { rows } = await REVOKE_OLDER.query(client, [id, spared, now])
  return rows.map((row) => row.id)
}

const NOTE_USED = statement({
  text: `update token set last_used_at = $2 where id = $1 and (last_used_at is null or last_used_at < $3)`,
  params: [uuid, timestamptz, timestamptz],
})

/** Unless another process has noted a use after `unlessAfter`. */
export async function noteTokenUsed(
  client: Client,
  id: string,
  { at, unlessAfter }: { readonly at: Date; readonly unlessAfter: Date },
): Promise<void> {
  await NOTE_USED.query(client, [id, at, unlessAfter])
}
