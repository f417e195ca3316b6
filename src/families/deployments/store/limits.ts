import { awaitAll } from '../../../store/await-all.ts'
import type { Client } from '../../../store/client.ts'
import { array, uuid } from '../../../store/column-types.ts'
import { grantLimits, lockSlots, releaseTickets, wakeNextOfLimits } from '../../../store/limit-tickets.ts'
import { statement } from '../../../store/statement.ts'
import type { Answer, RunSharedEffect } from '../../family.ts'
import { REFUSED } from '../../limit-grant.ts'

/** Tickets of deploy items. */

const KIND = 'DEPLOY_ITEM'

export const grantItemLimits: Answer<'limits'> = async (client, _root, wanted) => {
  await lockSlots(client)
  const granted = await grantLimits(client, KIND, wanted, new Date(wanted[0]?.now ?? 0))
  return wanted.map(({ id }) => granted.get(id) ?? REFUSED)
}

// An item that asks again in this transaction has new ones.
const DROP = statement({
  name: 'drop-limit-tickets-of-items',
  text: `delete from limit_ticket t using deploy_item d
    where d.object_id = t.object_id and t.object_id = any($1::uuid[])
      and (d.limits is null or (d.limits ->> 'held')::boolean <> (t.granted_at is not null))`,
  params: [array(uuid)],
})

export const freeItemLimits: RunSharedEffect<'limitsFreed'> = async (client, ids, now, goes) => {
  const [, , roots] = await awaitAll([
    lockSlots(client),
    // The rows of a root that goes are still there, as they were.
    goes ? releaseTickets(client, ids) : DROP.query(client, [ids]),
    wakeNextOfLimits(client, now, { goes, most: ids.length }),
  ])
  return roots
}

/** Wakes items that limits let start, and that nothing has woken. */
export async function recoverLimited(client: Client, time: Date | null): Promise<void> {
  if (await lockSlots(client)) await wakeNextOfLimits(client, time, { kind: KIND })
}
