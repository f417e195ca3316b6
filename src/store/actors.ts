import type { Actor } from '../core/vocabulary.ts'
import type { Client } from './client.ts'
import { array, uuid } from './column-types.ts'
import { statement } from './statement.ts'
import * as table from './tables.ts'

const ROW = { id: uuid, actor: table.actor }
const ACTORS = {
  token: statement({ text: 'select id, actor from token where id = any($1)', params: [array(uuid)], row: ROW }),
  agent: statement({ text: 'select id, actor from agent where id = any($1)', params: [array(uuid)], row: ROW }),
}

/** Adds the actors to rows from Prisma, which refuses the words of families that its schema does not have. */
export async function withActors<Row extends { readonly id: string }>(
  client: Client,
  of: keyof typeof ACTORS,
  rows: readonly Row[],
): Promise<readonly (Row & { readonly actor: Actor })[]> {
  const found = await ACTORS[of].query(client, [rows.map(({ id }) => id)])
  const actors = new Map(found.rows.map(({ id, actor }) => [id, actor]))
  // A row that is gone meanwhile has none.
  return rows.flatMap((row) => {
    const actor = actors.get(row.id)
    return actor ? [{ ...row, actor }] : []
  })
}
