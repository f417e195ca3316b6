import { causeOf, type FailureCause, type ObjectFailure } from '../../../core/errors.ts'
import type { Client } from '../../../store/client.ts'
import { json, nullable, uuid } from '../../../store/column-types.ts'
import { statement } from '../../../store/statement.ts'
import * as table from '../../../store/tables.ts'
import type { Family } from '../../family.ts'
import { acquire } from './locks.ts'

const FAILED_JOBS = statement({
  name: 'failed-jobs',
  text: `select o.id, o.kind, o.name, o.phase, s.error from object o left join object_status s on s.object_id = o.id
        where o.parent_id = $1 and o.phase = 'FAILED' order by o.ordinal limit 10`,
  params: [uuid],
  row: {
    id: table.object.id,
    kind: table.object.kind,
    name: table.object.name,
    phase: table.object.phase,
    error: nullable(json<ObjectFailure>()),
  },
})

export const questions: Family['questions'] = {
  /** True for each job that has all its locks now. The first query enters it in the queue. */
  locks: async (client, _root, asked) => {
    const answers: boolean[] = []
    // Sequential, since they share a connection and their order is that of the queue.
    for (const { id, locks, now } of asked)
      answers.push(await acquire(client, { objectId: id, locks, now: new Date(now) }))
    return answers
  },
  failedJobs: async (client, _root, asked) => {
    const answers: (readonly FailureCause[])[] = []
    for (const id of asked) {
      const { rows } = await FAILED_JOBS.query(client, [id])
      answers.push(rows.map(causeOf))
    }
    return answers
  },
}

const WAKE_LOCK_HOLDERS = statement({
  name: 'wake-lock-holders',
  text: `insert into wake (root_id, object_ids)
      select o.root_id, array_agg(distinct o.id) from lock l cross join lateral (select * from object where id = l.object_id offset 0) o
      where l.held and o.phase = 'WAITING'
        and not exists (select from wake v where v.root_id = o.root_id and v.object_ids @> array[o.id] offset 0)
      group by o.root_id`,
})

/** Jobs that have their locks and have not started, because the wake request was lost. */
export async function wakeHolders(client: Client): Promise<void> {
  await WAKE_LOCK_HOLDERS.query(client, [])
}
