import type { WorkAction } from '../core/vocabulary.ts'
import type { Client } from './client.ts'
import { array, bigint, nullable, timestamptz } from './column-types.ts'
import { statement } from './statement.ts'
import { workAction } from './tables.ts'

const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS
const WEEK_MS = 7 * DAY_MS
/** Pages of a table that one sweep looks through: 16 MB, some 20 ms. */
const SLICE = 2_000

// Nearly all finished work belongs to existing objects, and no index finds the rest: a scan of a million rows took a
// second, every minute. So each minute scans another slice of the table, by its place on disk.
const SWEEP_WORK = statement({
  name: 'sweep-work',
  text: `with slice as materialized (
    select $2::bigint % n as i, n from (
      select 1 + pg_relation_size('work') / current_setting('block_size')::bigint / ${SLICE} as n
    ) slices
  )
  delete from work w where w.ctid >= (select format('(%s,0)', i * ${SLICE})::tid from slice)
    and w.ctid < (select format('(%s,0)', case when i + 1 < n then (i + 1) * ${SLICE} else 4294967295 end)::tid from slice)
    and (w.state = 2 and w.done_at < $1 or w.state < 2 and w.action = any($4) and w.triggered_at < $3)
    and not exists (select 1 from object o where o.id = w.object_id)`,
  params: [timestamptz, bigint, timestamptz, array(workAction)],
})

const SWEEP_KEYS = statement({
  name: 'sweep-keys',
  text: 'delete from idempotency_key where created_at < $1',
  params: [timestamptz],
})

/** Agents that are kept of one principal, and that one sweep removes. */
const AGENTS = 10_000

const SWEEP_AGENTS = statement({
  name: 'sweep-agents',
  text: `delete from agent where id in (
    select id from (select id, seen_at, row_number() over (
      partition by principal_id order by seen_at desc, id
    ) as place from agent) a
    where seen_at < $1 or place > ${AGENTS} limit ${AGENTS}
  )`,
  params: [nullable(timestamptz)],
})

/** Places whose agent is gone, unless they are drained or something runs there. */
const SWEEP_PLACES = statement({
  name: 'sweep-places',
  text: `delete from place p where p.drained_at is null and p.registered_at < $1
      and not exists (select from agent a where a.principal_id = p.principal_id and a.instance = p.name)
      and not exists (select from workload w where w.place_id = p.id and w.state = 1)`,
  params: [timestamptz],
})

/** Each has what a target had: nobody needs it for longer. */
const DRY_RUN_MS = 60 * MINUTE_MS
const SWEEP_DRY_RUNS = statement({
  name: 'sweep-dry-runs',
  text: 'delete from dry_run where created_at < $1',
  params: [timestamptz],
})

export interface SweepOptions {
  /** Actions of work that outlives its object. */
  readonly outlivingActions: readonly WorkAction[]
  /** Milliseconds for which a silent agent is kept; null: for ever. */
  readonly agentRetentionMs: number | null
}

/**
 * Removes keys and finished work of objects that are gone, both after a day, work to remove a workload that no runtime has
 * claimed for a week, and agents that are gone, with their places, and dry runs after an hour. Called every minute, it covers a big table within about an hour.
 */
export async function sweep(
  client: Client,
  now: Date,
  { outlivingActions, agentRetentionMs }: SweepOptions,
): Promise<void> {
  const dayAgo = new Date(now.getTime() - DAY_MS)
  await SWEEP_KEYS.query(client, [dayAgo])
  await SWEEP_WORK.query(client, [
    dayAgo,
    Math.floor(now.getTime() / MINUTE_MS),
    new Date(now.getTime() - WEEK_MS),
    outlivingActions,
  ])
  await SWEEP_DRY_RUNS.query(client, [new Date(now.getTime() - DRY_RUN_MS)])
  const agentsSince = agentRetentionMs === null ? null : new Date(now.getTime() - agentRetentionMs)
  await SWEEP_AGENTS.query(client, [agentsSince])
  if (agentsSince) await SWEEP_PLACES.query(client, [agentsSince])
}
