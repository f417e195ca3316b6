import type { Client } from './client.ts'
import { nullable, required, text, timestamptz, uuid } from './column-types.ts'
import { keyed } from './loaders/keyed.ts'
import { statement } from './statement.ts'
import * as table from './tables.ts'
import { IS_HELD, IS_OPEN } from './work-states.ts'

/** Trees that are paused. Each is written under the lock of its root, so who has that lock knows whether the tree is. */

export interface Pause {
  readonly at: Date
  /** Name of the principal. */
  readonly by: string
  readonly reason: string | null
}

const PAUSE = statement({
  name: 'pause-root',
  text: `insert into root_pause (root_id, at, by, reason) values ($1, $2, $3, $4)
    on conflict (root_id) do update set reason = excluded.reason`,
  params: [uuid, timestamptz, text, nullable(text)],
})
/** One that is there gets the new reason. */
export async function writePause(client: Client, rootId: string, { at, by, reason }: Pause): Promise<void> {
  await PAUSE.query(client, [rootId, at, by, reason])
}

/** How long the clock of held work stood. */
const STOOD = "greatest(interval '0', $2 - greatest(p.at, w.triggered_at))"
/**
 * Held work keeps the time that it had left when its clock began to stand. Caches compare revisions, so each of its objects gets a new
 * one.
 */
const RESUME = statement({
  name: 'resume-root',
  text: `with pause as (delete from root_pause where root_id = $1 returning at),
  moved as (
    update work w set triggered_at = w.triggered_at + ${STOOD}, picked_up_at = w.picked_up_at + ${STOOD}, due_at = w.due_at + ${STOOD}
    from pause p where w.root_id = $1 and w.${IS_OPEN} and ${IS_HELD('w')}
    returning w.object_id, w.type, w.due_at
  ), revised as (
    update object o set revision = o.revision + 1, updated_at = $2 from moved m where o.id = m.object_id
  )
  select type, min(due_at) as due from moved group by type`,
  params: [uuid, timestamptz],
  row: { type: required(table.work.type), due: nullable(timestamptz) },
})
/** The types of work that is offered again, and when its first clock runs out. */
export async function endPause(
  client: Client,
  rootId: string,
  now: Date,
): Promise<readonly { readonly type: string; readonly due: Date | null }[]> {
  const { rows } = await RESUME.query(client, [rootId, now])
  return rows
}

/** The pauses of trees, by the ids of their roots. */
export const loadPauses = keyed(
  'select root_id as key, at, by, reason from root_pause where root_id = any($1::uuid[])',
  {
    at: table.rootPause.at,
    by: table.rootPause.by,
    reason: table.rootPause.reason,
  },
)
