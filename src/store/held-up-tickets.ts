import type { HeldUpTicket } from '../core/blocker.ts'
import type { Client } from './client.ts'
import { array, boolean, integer, json, nullable, required, text, timestamptz, uuid } from './column-types.ts'
import { isRipe } from './limit-tickets.ts'
import { statement } from './statement.ts'
import * as table from './tables.ts'

/** Reads what holds up the tickets that wait for limits, for blockers. */

/** Number of holders that a blocker names. */
const MAX_HOLDERS = 10
// The ones before it start when the grants that the rate counts fall out of its time, one by one, and each then counts for as long.
const HELD_UP = statement({
  text: `select t.object_id as "objectId", case when o.project_id <> l.project_id
        then (select p.name || '/' from project p where p.id = l.project_id) else '' end || l.name as "limit", t.key, l.pause is not null as "isPaused", l.max, b.*,
      (select count(*)::integer from limit_ticket h where h.limit_id = t.limit_id and h.granted_at is not null) as held,
      k.held as "heldOfKey", p.position, not ${isRipe('t', '$2')} as "isDebounced",
      greatest(case when not ${isRipe('t', '$2')} then t.not_before end, case when k.max = 0 then v.until when p.position > b."rateCount" - g.used then coalesce(
          (select at from limit_grant where limit_id = t.limit_id and key = t.key and at > k.since order by at limit 1
            offset (p.position - b."rateCount" + g.used - 1) % b."rateCount"), k.now
        ) + ((p.position - b."rateCount" + g.used - 1) / b."rateCount" + 1) * b."rateMs" * interval '1 millisecond' end) as "expectedAt",
      (select coalesce(json_agg(json_build_object('objectId', h.object_id, 'key', h.key)), '[]') from (
        select h.object_id, h.key from limit_ticket h where h.limit_id = t.limit_id and h.granted_at is not null
        order by h.key = t.key desc, h.seq limit ${MAX_HOLDERS}) h) as holders
    from limit_ticket t join flow_limit l on l.id = t.limit_id join object o on o.id = t.object_id
    left join limit_override v on v.limit_id = t.limit_id and v.key = t.key and v.until > $2
    cross join lateral (select coalesce(v.max_per_key, l.max_per_key) as "maxPerKey", coalesce(v.rate_count, l.rate_count) as "rateCount",
      coalesce(v.rate_ms, l.rate_ms) as "rateMs") b
    cross join lateral (select $2 as now, v.max_per_key as max, $2 - b."rateMs" * interval '1 millisecond' as since,
      (select count(*)::integer from limit_ticket h
        where h.limit_id = t.limit_id and h.key = t.key and h.granted_at is not null) as held) k
    cross join lateral (
      select count(*)::integer as used from limit_grant where limit_id = t.limit_id and key = t.key and at > k.since) g
    cross join lateral (select count(*)::integer as position from limit_ticket n where n.kind = t.kind and n.limit_id = t.limit_id
      and n.key = t.key and n.granted_at is null and (n.priority > t.priority or n.priority = t.priority and n.seq <= t.seq)) p
    where t.object_id = any($1::uuid[]) and t.granted_at is null order by l.name, t.key`,
  params: [array(uuid), timestamptz],
  row: {
    ...{ objectId: table.limitTicket.objectId, limit: required(text), key: table.limitTicket.key },
    ...{ isPaused: boolean, isDebounced: boolean, max: table.flowLimit.max, maxPerKey: table.flowLimit.maxPerKey },
    ...{ rateCount: table.flowLimit.rateCount, rateMs: table.flowLimit.rateMs, expectedAt: nullable(timestamptz) },
    ...{ held: integer, heldOfKey: integer, position: integer, holders: json<HeldUpTicket['holders']>('json') },
  },
})

/** The tickets with which these objects wait. */
export async function loadHeldUpTickets(
  client: Client,
  ids: readonly string[],
  now: Date,
): Promise<ReadonlyMap<string, readonly HeldUpTicket[]>> {
  if (ids.length === 0) return new Map()
  const { rows } = await HELD_UP.query(client, [ids, now])
  return Map.groupBy(rows, ({ objectId }) => objectId)
}
