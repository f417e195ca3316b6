import type { Client } from '../store/client.ts'
import { bigint, text } from '../store/column-types.ts'
import { statement } from '../store/statement.ts'

const SEALS_AFTER = statement({
  name: 'log_seals_after',
  text: 'select line from log_seal where size > $1 order by size limit $2',
  params: [bigint, bigint],
  row: { line: text },
})
/** Lines of seals after so many, oldest first. */
export const readSeals = async (client: Client, after: number, limit: number): Promise<readonly string[]> =>
  (await SEALS_AFTER.query(client, [after, limit])).rows.map(({ line }) => line)
