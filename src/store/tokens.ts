import type { Pool } from 'pg'
import type { Viewer } from '../core/ports/viewer.ts'
import { withActors } from './actors.ts'
import type { Client } from './client.ts'
import { array, bytea, nullable, text, textOf, timestamptz, uuid } from './column-types.ts'
import { listOf, prismaOn } from './prisma.ts'
import { statement } from './statement.ts'
import * as table from './tables.ts'

/** A caller's token, as the store has it. The hash is SHA-256 of a secret that is stored nowhere. */
export interface TokenRow extends Omit<Viewer, 'tokenId' | 'rootId'> {
  readonly id: string
  readonly createdAt: Date
  /** Null: never. */
  readonly expiresAt: Date | null
}

const FIND = statement({
  text: `select id, name, role, actor, projects, types, targets, created_at as "createdAt", expires_at as "expiresAt", hash
    from token where hash = $1`,
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

/** Every request of a token that is not cached waits for this answer, the first one of a process too: it is SQL. */
export async function findToken(client: Client, hash: Buffer): Promise<(TokenRow & { readonly hash: Buffer }) | null> {
  const { rows } = await FIND.query(client, [hash])
  return rows[0] ?? null
}

const LIST = nullable(array(text))
const INSERT = statement({
  text: `insert into token (id, hash, name, role, actor, projects, types, targets, created_at, expires_at)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) on conflict (hash) do nothing`,
  params: [uuid, bytea, text, text, table.actor, LIST, LIST, LIST, timestamptz, nullable(timestamptz)],
})

/** A secret that has a token keeps it. Every start inserts the administrator's and the agents' tokens: it is SQL. */
export async function insertToken(client: Client, token: TokenRow, hash: Buffer): Promise<void> {
  const { id, name, role, actor, projects, types, targets, createdAt, expiresAt } = token
  await INSERT.query(client, [id, hash, name, role, actor, projects, types, targets, createdAt, expiresAt])
}

/** False: there was none. */
export async function deleteToken(pool: Pool, id: string): Promise<boolean> {
  const prisma = await prismaOn(pool)
  const { count } = await prisma.token.deleteMany({ where: { id } })
  return count === 1
}

/** The newest first, at most 500. */
export async function listTokens(pool: Pool): Promise<readonly TokenRow[]> {
  const prisma = await prismaOn(pool)
  const found = await prisma.token.findMany({
    omit: { hash: true, actor: true },
    orderBy: { id: 'desc' },
    take: 500,
  })
  const rows = await withActors(pool, 'token', found)
  return rows.map(({ allProjects, allTypes, allTargets, role, projects, types, targets, ...token }) => ({
    ...token,
    role: role as TokenRow['role'],
    projects: listOf(allProjects, projects),
    types: listOf(allTypes, types),
    targets: listOf(allTargets, targets),
  }))
}
