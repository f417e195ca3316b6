import type { Client } from '../../../store/client.ts'
import { text } from '../../../store/column-types.ts'
import { statement } from '../../../store/statement.ts'
import * as table from '../../../store/tables.ts'

const FIND = statement({
  text: `select o.id from object o join project p on p.id = o.project_id
    where p.name = $1 and o.kind = 'INSTALLATION' and o.name = $2 and o.parent_id is null`,
  params: [text, text],
  row: { id: table.object.id },
})

/** The id of a root installation by its name; null: there is none. */
export async function findRootId(client: Client, project: string, name: string): Promise<string | null> {
  const { rows } = await FIND.query(client, [project, name])
  return rows[0]?.id ?? null
}
