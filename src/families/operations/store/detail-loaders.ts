import type { Client } from '../../../store/client.ts'
import { array, json, nullable, uuid } from '../../../store/column-types.ts'
import { keyed } from '../../../store/loaders/keyed.ts'
import { statement } from '../../../store/statement.ts'
import * as table from '../../../store/tables.ts'
import type { JobDetails } from '../rules/details.ts'

/** Loads the family's columns for the API, for many objects in one statement. */

export const loadJobs = keyed(
  `select object_id as key, gadget, args, exports, started_at as "startedAt", ended_at as "endedAt",
        undo_after as "undoAfter"
      from gadget_job where object_id = any($1::uuid[])`,
  {
    gadget: table.gadgetJob.gadget,
    args: nullable(json<readonly string[]>()),
    exports: nullable(json<NonNullable<JobDetails['exports']>>()),
    startedAt: table.gadgetJob.startedAt,
    endedAt: table.gadgetJob.endedAt,
    undoAfter: table.gadgetJob.undoAfter,
  },
)

export const loadTasks = keyed(
  'select object_id as key, cancel_by as "cancelBy" from task where object_id = any($1::uuid[])',
  { cancelBy: table.task.cancelBy },
)

export interface JournalRow {
  readonly key: string
  readonly entry: string
  readonly at: Date
}
const LOAD_JOURNALS = statement({
  text: 'select object_id as key, entry, at from journal where object_id = any($1::uuid[]) order by object_id, n',
  params: [array(uuid)],
  row: { key: table.journal.objectId, entry: table.journal.entry, at: table.journal.at },
})

export async function loadJournals(
  client: Client,
  ids: readonly string[],
): Promise<ReadonlyMap<string, readonly JournalRow[]>> {
  const { rows } = await LOAD_JOURNALS.query(client, [ids])
  return Map.groupBy(rows, ({ key }) => key)
}
