import type { Viewer } from '../core/ports/viewer.ts'
import type { Client } from './client.ts'

/** Who may call, as the store has it. The hash is SHA-256 of a secret that is kept nowhere. */
export interface TokenRow extends Omit<Viewer, 'tokenId' | 'eventId'> {
  readonly id: string
  readonly createdAt: Date
  /** Null: never. */
  readonly expiresAt: Date | null
}

const SELECTION =
  't.id, t.name, t.role, t.actor, t.projects, t.types, t.targets, t.created_at as "createdAt", t.expires_at as "expiresAt"'

export async function findToken(client: Client, hash: Buffer): Promise<(TokenRow & { readonly hash: Buffer }) | null> {
  const { rows } = await client.query<TokenRow & { hash: Buffer }>({
    text: `select ${SELECTION}, t.hash from token t where t.hash = $1`,
    values: [hash],
  })
  return rows[0] ?? null
}

/** A secret that has a token keeps it. */
export async function insertToken(client: Client, row: TokenRow, hash: Buffer): Promise<void> {
  await client.query({
    text: `insert into token (id, hash, name, role, actor, projects, types, targets, created_at, expires_at)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) on conflict (hash) do nothing`,
    values: [
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
    ],
  })
}

/** False: there was none. */
export async function deleteToken(client: Client, id: string): Promise<boolean> {
  const { rowCount } = await client.query({ text: 'delete from token where id = $1', values: [id] })
  return rowCount === 1
}

/** The newest first, at most 500. */
export async function listTokens(client: Client): Promise<readonly TokenRow[]> {
  const { rows } = await client.query<TokenRow>({
    text: `select ${SELECTION} from token t order by t.id desc limit 500`,
  })
  return rows
}
