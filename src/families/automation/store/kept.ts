import type { Client } from '../../../store/client.ts'
import { bigint, timestamptz, uuid } from '../../../store/column-types.ts'
import { statement } from '../../../store/statement.ts'

/** Firings that are kept for each schedule, besides those of its backfills and those of which something runs. */
export const KEPT_FIRINGS = 1_000

// Older ones may be there still, since something of them runs or waits: others of their age are gone.
const OLDEST = statement({
  text: `select due from firing where schedule_id = $1 and backfill_id is null order by id desc offset $2 limit 1`,
  params: [uuid, bigint],
  row: { due: timestamptz },
})
/** The time since which every firing is kept; null: all are. */
export async function oldestKept(client: Client, scheduleId: string): Promise<Date | null> {
  const { rows } = await OLDEST.query(client, [scheduleId, KEPT_FIRINGS - 1])
  return rows[0]?.due ?? null
}
