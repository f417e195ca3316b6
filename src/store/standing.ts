import type { Client } from './client.ts'
import { array, bigint, boolean, nullable, text, timestamptz, uuid } from './column-types.ts'
import { statement } from './statement.ts'
import * as table from './tables.ts'
import { IS_FREE_TO_GO } from './work-states.ts'

/** The next time at which something is due, and open work: for whoever moves the time. */

const NEXT_MOMENT = statement({
  name: 'next-moment',
  text: `select min(at) as at from (
      select min(wake_at) as at from root_queue where wake_at > $1
      union all select min(offer_after) from work where state = 0 and offer_after > $1
      union all select min(lease_until) from work where state = 1 and lease_until > $1
      union all select min(due) from notification where due > $1) moments`,
  params: [timestamptz],
  row: { at: nullable(timestamptz) },
})

/** The next time after this one at which something is due: a tree, work that is offered later, the end of a lease, a message. */
export async function nextMoment(client: Client, now: Date): Promise<Date | null> {
  const { rows } = await NEXT_MOMENT.query(client, [now])
  return rows[0]?.at ?? null
}

const OPEN_WORK = statement({
  name: 'open-work',
  text: `select object_id as "objectId", attempt, state = 1 and lease_until > $1 as held from work
    where state = 1 and (lease_until > $1 or abort_requested_at is null and type = any($2))
      or state = 0 and type = any($2) and (offer_after is null or offer_after <= $1) and ${IS_FREE_TO_GO('work')}
    order by object_id limit $3`,
  params: [timestamptz, array(text), bigint],
  row: { objectId: uuid, attempt: table.work.attempt, held: nullable(boolean) },
})

/** Work that an agent holds, or that one which claims these types can have now. */
export const openWork = async (client: Client, now: Date, types: readonly string[]) =>
  (await OPEN_WORK.query(client, [now, types, MAX_WORK])).rows
const MAX_WORK = 10_000
