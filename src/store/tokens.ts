import type { Client } from './client.ts'
import { array, bigint, boolean, bytea, integer, nullable, required, text, timestamptz, uuid } from './column-types.ts'
import { byKey, direction, inOrder, type Window } from './loaders/window.ts'
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
  text: `select t.hash, ${COLUMNS} from token t join principal p on p.id = t.principal_id where t.hash = any($1)`,
  params: [array(bytea)],
  row: { hash: table.token.hash, ...ROW },
})

export type FoundToken = TokenRow & { readonly hash: Buffer }

/** In the order of the hashes; null: there is none. Also such as are revoked. */
export async function findTokens(client: Client, hashes: readonly Buffer[]): Promise<readonly (FoundToken | null)[]> {
  const { rows } = await FIND.query(client, [hashes])
  const found = new Map(rows.map((row) => [row.hash.toString('base64'), { ...toToken(row), hash: row.hash }]))
  return hashes.map((hash) => found.get(hash.toString('base64')) ?? null)
}
export const findToken = async (client: Client, hash: Buffer): Promise<FoundToken | null> =>
  (await findTokens(client, [hash]))[0] ?? null

const HAS_ADMINISTRATOR = statement({
  text: `select exists (select from token t join principal p on p.id = t.principal_id
    where p.administrator and p.deleted_at is null and t.revoked_at is null
      and (t.expires_at is null or t.expires_at > clock_timestamp())) as found`,
  row: { found: boolean },
})

/** True if the instance has an administrator's token that is its own. */
export async function hasAdministrator(client: Client): Promise<boolean> {
  const { rows } = await HAS_ADMINISTRATOR.query(client, [])
  return rows[0]?.found === true
}

/** Tokens for which every given condition holds. */
export interface TokenQuery {
  /** Only of principals with grants in these projects only; null: of all. */
  readonly projects: readonly string[] | null
  readonly name?: string | null | undefined
  /** A part of the name, ignoring case. */
  readonly nameContains?: string | null | undefined
  /** True for tokens that are neither revoked nor expired. */
  readonly valid?: boolean | null | undefined
  /** True for tokens of administrators of the instance. */
  readonly administrator?: boolean | null | undefined
}
const MATCHES = `${isWithin('$1')} and ($2::text is null or strpos(lower(t.name), lower($2)) > 0)
    and ($3::boolean is null or $3 = (t.revoked_at is null and (t.expires_at is null or t.expires_at > clock_timestamp())))
    and ($4::boolean is null or $4 = p.administrator) and ($5::text is null or t.name = $5)`
const MATCH_PARAMS = [
  ...([nullable(array(uuid)), nullable(text)] as const),
  ...([nullable(boolean), nullable(boolean), nullable(text)] as const),
] as const
const matchOf = ({ projects, name = null, nameContains = null, valid = null, administrator = null }: TokenQuery) =>
  [projects, nameContains, valid, administrator, name] as const

const list = (order: 'asc' | 'desc') =>
  statement({
    text: `select ${COLUMNS} from token t join principal p on p.id = t.principal_id
      where ${MATCHES} and ($6::uuid is null or t.id < $6) and ($7::uuid is null or t.id > $7)
      order by t.id ${order} limit $8`,
    params: [...MATCH_PARAMS, nullable(uuid), nullable(uuid), bigint],
    row: ROW,
  })
// The newest come first.
const LIST = { asc: list('desc'), desc: list('asc') }

/** A page of tokens, the newest first, also of revoked ones. */
export async function listTokens(
  client: Client,
  query: TokenQuery,
  window: Window<string>,
): Promise<readonly TokenRow[]> {
  const { after, before, limit } = window
  const { rows } = await LIST[direction(window)].query(client, [...matchOf(query), after, before, limit])
  return inOrder(rows.map(toToken), window)
}

const COUNT = statement({
  text: `select count(*)::integer as count from token t join principal p on p.id = t.principal_id where ${MATCHES}`,
  params: MATCH_PARAMS,
  row: { count: integer },
})
export async function countTokens(client: Client, query: TokenQuery): Promise<number> {
  const { rows } = await COUNT.query(client, matchOf(query))
  return rows[0]?.count ?? 0
}

const listOf = (order: 'asc' | 'desc') =>
  statement({
    text: `select ${COLUMNS} from unnest($1::uuid[]) k(id) cross join lateral (
        select * from token where principal_id = k.id and ($2::uuid is null or id < $2) and ($3::uuid is null or id > $3)
          order by id ${order} limit $4
      ) t join principal p on p.id = t.principal_id order by t.id ${order}`,
    params: [array(uuid), nullable(uuid), nullable(uuid), bigint],
    row: ROW,
  })
const LIST_OF = { asc: listOf('desc'), desc: listOf('asc') }

/** A page of the tokens of each principal, the newest first, also of revoked ones. */
export async function listTokensOf(
  client: Client,
  principalIds: readonly string[],
  window: Window<string>,
): Promise<ReadonlyMap<string, readonly TokenRow[]>> {
  const { after, before, limit } = window
  const { rows } = await LIST_OF[direction(window)].query(client, [principalIds, after, before, limit])
  const keyed = rows.map((row) => ({ key: row.principalId, token: toToken(row) }))
  return byKey(principalIds, inOrder(keyed, window), ({ token }) => token)
}

const COUNT_OF = statement({
  text: 'select principal_id as key, count(*)::integer as count from token where principal_id = any($1) group by 1',
  params: [array(uuid)],
  row: { key: table.token.principalId, count: integer },
})
export async function countTokensOf(
  client: Client,
  principalIds: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const { rows } = await COUNT_OF.query(client, [principalIds])
  return new Map(rows.map(({ key, count }) => [key, count]))
}

const LOAD = statement({
  text: `select ${COLUMNS} from token t join principal p on p.id = t.principal_id
    where t.id = any($2::uuid[]) and ${isWithin('$1')}`,
  params: [nullable(array(uuid)), array(uuid)],
  row: ROW,
})

/** Tokens by their ids, of principals with grants in these projects only; null: of all. */
export async function loadTokens(
  client: Client,
  ids: readonly string[],
  projects: readonly string[] | null,
): Promise<readonly TokenRow[]> {
  const { rows } = await LOAD.query(client, [projects, ids])
  return rows.map(toToken)
}

const EXPIRING = statement({
  text: `select t.name, t.created_at as "createdAt", t.expires_at as "expiresAt" from token t join principal p on p.id = t.principal_id
    where ${isWithin('$1')} and t.revoked_at is null and p.deleted_at is null
      and t.expires_at between clock_timestamp() - interval '1 day' and clock_timestamp() + interval '7 days'
    order by t.expires_at limit $2`,
  params: [nullable(array(uuid)), bigint],
  row: { name: table.token.name, createdAt: table.token.createdAt, expiresAt: required(timestamptz) },
})

/** Tokens that expire within a week or have expired within a day, of principals with grants in these projects only; null: of all. */
export const expiringTokens = async (client: Client, projects: readonly string[] | null, limit: number) =>
  (await EXPIRING.query(client, [projects, limit])).rows

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

const REPLACE_SECRET = statement({ text: 'update token set hash = $2 where id = $1', params: [uuid, bytea] })

/** The secret before is not valid any more. */
export async function replaceSecret(client: Client, id: string, hash: Buffer): Promise<void> {
  await REPLACE_SECRET.query(client, [id, hash])
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
  text: `update token set last_used_at = $2 where id = (
      select id from token where id = $1 and (last_used_at is null or last_used_at < $3) for no key update skip locked
    )`,
  params: [uuid, timestamptz, timestamptz],
})

/** Unless another process has noted a use after `unlessAfter`, or has locked the token: the next use is noted then. */
export async function noteTokenUsed(
  client: Client,
  id: string,
  { at, unlessAfter }: { readonly at: Date; readonly unlessAfter: Date },
): Promise<void> {
  await NOTE_USED.query(client, [id, at, unlessAfter])
}
