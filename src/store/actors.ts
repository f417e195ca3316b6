import type { Actor } from '../core/vocabulary.ts'
import type { Client } from './client.ts'
import { array, uuid } from './column-types.ts'
import { statement } from './statement.ts'
import * as table from './tables.ts'

const ACTORS = statement({
  text: 'select id, actor from agent where id = any($1)',
  params: [array(uuid)],
  row: { id: table.agent.id, actor: table.agent.actor },
})

/** Adds the actors to agents from Prisma, which refuses the words of families that its schema does not have. */
export async function withActors<Row extends { readonly id: string }>(
  client: Client,
  rows: readonly Row[],
): Promise<readonly (Row & { readonly actor: Actor })[]> {
  const found = await ACTORS.query(client, [rows.map(({ id }) => id)])
  const actors = new Map(found.rows.map(({ id, actor }) => [id, actor]))
  // A row that is gone meanwhile has none.
  return rows.flatMap((row) => {
    const actor = actors.get(row.id)
    return actor ? [{ ...row, actor }] : []
  })
}
