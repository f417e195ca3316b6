import type { Client } from '../../../store/client.ts'
import { array, boolean, joined, nullable, text, timestamptz, uuid } from '../../../store/column-types.ts'
import { OBJECT_SELECTION } from '../../../store/loaders/objects.ts'
import { type StatementRow, statement } from '../../../store/statement.ts'
import * as table from '../../../store/tables.ts'

/** The facts from which a run is forecast: its tree, and the courses of objects through it and earlier runs, from the log. */

/** The largest tree that is forecast. */
export const MAX_FORECAST_OBJECTS = 10_000
/** Earlier runs that are read. */
export const MAX_FORECAST_RUNS = 20
/** Changes of the log that are read, and their transactions: runs that began before them are left out. */
const MAX_CHANGES = 100_000
const MAX_BATCHES = 20_000

const TREE = statement({
  text: `select ${OBJECT_SELECTION}, d.type, coalesce(i.ignored, false) as ignored, i.cancel_requested_at is not null as "isCancelled",
      array(select e.to_id from edge e where e.from_id = o.id) as dependencies
    from object o left join deploy_item d on d.object_id = o.id left join installation i on i.object_id = o.id
    where o.root_id = $1 order by o.id limit ${MAX_FORECAST_OBJECTS + 1}`,
  params: [uuid],
  row: { ...table.object, type: nullable(text), ignored: boolean, isCancelled: boolean, dependencies: array(uuid) },
})
export type ForecastObject = StatementRow<typeof TREE>

const RUNS = statement({
  text: `select job_id as "jobId" from run where object_id = $1 and phase = 'SUCCEEDED' order by number desc limit ${MAX_FORECAST_RUNS}`,
  params: [uuid],
  row: { jobId: uuid },
})

// Batch by batch, by the index, even by a plan that was made when there were none.
const COURSES = statement({
  text: `with recent as materialized (
      select l.batch_id, sum(b.n) over (order by l.batch_id desc) as changes
      from (select batch_id from log_content where root_id = $1 order by batch_id desc limit ${MAX_BATCHES}) l
      join log_batch b on b.id = l.batch_id
    )
    select c.job_id as "jobId", min(c.kind) as kind, min(c.path) as path, min(c.at) as "from",
      max(c.at) filter (where c."to" = 'SUCCEEDED') as "to"
    from recent r cross join lateral (
      select p.job_id, p.object_id, p.kind, concat_ws('/', nullif(p.parent_path, ''), p.name) as path, p."to", p.at
      from phase_change p where p.batch_id = r.batch_id and p.revision is not null offset 0
    ) c
    where r.changes <= ${MAX_CHANGES} and c.job_id = any($2::uuid[]) and c."to" not in ('PENDING', 'PENDING_DEPENDENCIES')
    group by c.job_id, c.object_id`,
  params: [uuid, array(uuid)],
  row: {
    jobId: uuid,
    kind: joined(table.objectKind),
    path: joined(text),
    from: joined(timestamptz),
    to: nullable(timestamptz),
  },
})
export type ForecastCourse = StatementRow<typeof COURSES>

export interface ForecastFacts {
  /** Parents before their children. */
  readonly tree: readonly ForecastObject[]
  /** Jobs that have succeeded, the newest first. */
  readonly jobIds: readonly string[]
  /** The courses of objects in these jobs and in the one that runs. */
  readonly courses: readonly ForecastCourse[]
}
/**
 * Null: the tree has too many objects.
 * @param jobId of the job that runs; null: none does
 */
export async function loadForecastFacts(
  client: Client,
  rootId: string,
  jobId: string | null,
): Promise<ForecastFacts | null> {
  const [{ rows: runs }, { rows: tree }] = await Promise.all([
    RUNS.query(client, [rootId]),
    TREE.query(client, [rootId]),
  ])
  if (tree.length > MAX_FORECAST_OBJECTS) return null
  const jobIds = runs.map((run) => run.jobId)
  if (jobIds.length === 0) return { tree, jobIds, courses: [] }
  const { rows: courses } = await COURSES.query(client, [rootId, jobId === null ? jobIds : [...jobIds, jobId]])
  return { tree, jobIds, courses }
}
