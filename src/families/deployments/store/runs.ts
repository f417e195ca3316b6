import type { Node } from '../../../core/tree.ts'
import type { Client } from '../../../store/client.ts'
import { integer, jsonb, nullable, text, timestamptz, uuid } from '../../../store/column-types.ts'
import { statement } from '../../../store/statement.ts'
import type { EndedRun } from '../rules/origin.ts'

/** A job of a root is a run: who asked for it and why, when it ran, and how it ended. */

/** Ended runs that are kept of a root. */
export const MAX_RUNS = 100
/** Exports of a run are kept for comparisons up to this many characters of JSON. */
const MAX_EXPORTS = 64 * 1024

// The number continues from the newest, which is never removed. The cached root may be gone: a write that finds nothing
// repeats the decisions.
const RECORD = statement({
  name: 'record-run',
  text: `with newest as (select coalesce(max(number), 0) as number from run where object_id = $1),
      old as (delete from run where object_id = $1 and number <= (select number from newest) + 1 - ${MAX_RUNS})
    insert into run (object_id, number, job_id, mode, cause, by, generation, started_at, ended_at, phase, error, exports)
      select $1, newest.number + 1, $2, $3::text::reconcile_mode, $4, $5, $6, $7, $8, $9::text::phase, $10, $11 from newest
        where exists (select from object where id = $1)`,
  params: [
    ...([uuid, uuid, text, text, nullable(text), integer] as const),
    ...([timestamptz, timestamptz, text, nullable(jsonb), nullable(jsonb)] as const),
  ],
})

/** Writes the record of a root's job. */
export async function recordRun(client: Client, root: Node, run: EndedRun, now: Date): Promise<void> {
  const { jobId, mode, origin, generation, phase, error, exports } = run
  const kept = exports !== null && JSON.stringify(exports).length <= MAX_EXPORTS
  await RECORD.query(client, [
    ...([root.row.id, jobId, mode, origin.cause, origin.by, generation, origin.startedAt, now, phase] as const),
    error,
    kept ? exports : null,
  ])
}
