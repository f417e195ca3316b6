import { text, timestamptz, uuid } from '../../../store/column-types.ts'
import { statement } from '../../../store/statement.ts'
import type { Family } from '../../family.ts'
import { release } from './locks.ts'

const WRITE_JOURNAL = statement({
  name: 'write-journal',
  text: `insert into journal (object_id, n, entry, at)
        select $1, coalesce(max(n), 0) + 1, $2, $3 from journal where object_id = $1`,
  params: [uuid, text, timestamptz],
})

export const effects: Family['effects'] = {
  journal: async (client, _root, { id, entry }, now) => {
    await WRITE_JOURNAL.query(client, [id, entry, now])
    return []
  },
  releaseLocks: async (client, _root, id, now) => {
    const granted = await release(client, [id], now)
    return granted.map(({ rootId }) => rootId)
  },
}
