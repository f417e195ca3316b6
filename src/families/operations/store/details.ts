import type { Client } from '../../../store/client.ts'
import { array, json, nullable, uuid } from '../../../store/column-types.ts'
import { detailsTable } from '../../../store/columns.ts'
import { keyedDetails, keysOf } from '../../../store/loaders/keyed.ts'
import { statement } from '../../../store/statement.ts'
import * as table from '../../../store/tables.ts'
import type { DetailsTable } from '../../family.ts'
import { type JobDetails, NEW_JOB, NEW_TASK } from '../rules/details.ts'

/** The family's columns, as the engine reads and writes them. */
export const detailsTables: readonly DetailsTable[] = [
  detailsTable('task', ['TASK'], table.task, NEW_TASK),
  detailsTable('gadget_job', ['GADGET_JOB'], table.gadgetJob, NEW_JOB),
]

/** Loads the family's columns for the API, for many objects in one statement. */

export const loadJobs = keyedDetails(
  'gadget_job',
  {
    ...table.gadgetJob,
    args: nullable(json<readonly string[]>()),
    exports: nullable(json<NonNullable<JobDetails['exports']>>()),
  },
  keysOf(NEW_JOB, 'env', 'locks', 'keptError'),
)

export const loadTasks = keyedDetails('task', table.task, keysOf(NEW_TASK))

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
