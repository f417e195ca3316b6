import type { PhaseChangeQuery } from '../core/ports/phase-change.ts'
import type { Client } from '../store/client.ts'
import { bigint, timestamptz } from '../store/column-types.ts'
import { statement } from '../store/statement.ts'
import { HEAD_SQL } from './head.ts'

/**
 * Milliseconds by which the times of the log may be out of order. The log is in the order of commits, and a change has
 * the time at which its transaction began, by the database's clock. So times grow with sequences, except for the length
 * of a transaction and for a clock that is set back; this bound is far above both.
 */
const SLACK_MS = 600_000

// Everything up to `lo` is before the time, and nothing after `hi` is. Both are ends of batches, like the floor, so
// each step halves the range with one index lookup. The search ends early, with a wider range, at a batch without
// content.
const SEARCH = statement({
  name: 'log_at_time',
  text: `with recursive m as materialized (${HEAD_SQL}), s (lo, hi) as (
    select m.floor_seq, m.head from m
    union all
    select case when p.at < $1::timestamptz then p.last else s.lo end,
      case when p.at < $1::timestamptz then s.hi else p.first - 1 end
    from s cross join lateral (
      select l.first_seq as first, l.first_seq + l.n - 1 as last,
        (select c."at"[1] from log_content c where c.batch_id = l.id) as at
      from (
        select l.id, l.first_seq, l.n from log_batch l where l.first_seq <= (s.lo + s.hi + 1) / 2
        order by l.first_seq desc limit 1
      ) l
    ) p where s.lo < s.hi and p.at is not null
  )
  select lo, hi from s order by hi - lo limit 1`,
  params: [timestamptz],
  row: { lo: bigint, hi: bigint },
})

/** Sequences between which all changes of the query's time are, both exclusive. */
export interface SequenceWindow {
  readonly after: number
  readonly before: number
}

export async function timeWindow(
  client: Client,
  { since, until }: Pick<PhaseChangeQuery, 'since' | 'until'>,
): Promise<SequenceWindow> {
  const [start, end] = await Promise.all([
    since && search(client, since, -SLACK_MS),
    until && search(client, until, SLACK_MS),
  ])
  return { after: start?.lo ?? 0, before: end ? end.hi + 1 : Number.POSITIVE_INFINITY }
}

async function search(client: Client, time: Date, slackMs: number) {
  const { rows } = await SEARCH.query(client, [new Date(time.getTime() + slackMs)])
  return rows[0]
}
