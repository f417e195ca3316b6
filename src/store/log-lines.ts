import type { Client } from './client.ts'
import { array, bigint, boolean, float8, integer, text, timestamptz, uuid } from './column-types.ts'
import { statement } from './statement.ts'
import * as table from './tables.ts'

/** The output of objects: appended in commit order, bounded for each object. */

export interface LogLine {
  readonly objectId: string
  readonly at: Date
  readonly stream: 'STDOUT' | 'STDERR' | 'STEP' | 'SYSTEM'
  readonly text: string
}

/** The bounds of one object's lines: the newest ones stay, after one that gives the number of deleted ones. */
export interface LogBounds {
  readonly maxLines: number
  /** UTF-8 bytes of all texts. */
  readonly maxBytes: number
}
export const LOG_BOUNDS: LogBounds = { maxLines: 10_000, maxBytes: 4 * 1024 * 1024 }

/** The share that stays when a bound is passed: the room avoids that each batch passes it again. */
const KEPT_SHARE = 0.9

interface Tail {
  readonly id: string
  readonly lines: number
  readonly bytes: number
}

// Each batch locks tails in the order of their ids before it writes anything, so no two batches deadlock. A tail's row
// is held until the commit, so numbers become visible in order. If one of the objects has no tail, nothing is written,
// unless the caller allows it. Lines find their tail by sorting: a join would compare each with each.
const APPEND = statement({
  name: 'append-log-lines',
  text: `with line as (
    select * from unnest($1::uuid[], $2::timestamptz[], $3::text[], $4::text[]) with ordinality
      as u(object_id, at, stream, text, place)
  ), sum as (
    select object_id, count(*)::integer as lines, sum(octet_length(text)) as bytes from line group by object_id
  ), locked as materialized (
    select t.object_id, s.lines, s.bytes from sum s join log_tail t on t.object_id = s.object_id
    order by t.object_id for update of t
  ), tail as (
    update log_tail t set next_n = t.next_n + k.lines, kept_lines = t.kept_lines + k.lines, kept_bytes = t.kept_bytes + k.bytes
    from locked k
    where t.object_id = k.object_id and ($5 or (select count(*) from locked) = (select count(*) from sum))
    returning t.object_id, t.next_n - k.lines as first, t.kept_lines, t.kept_bytes
  ), placed as (
    select object_id, max(first) over w + row_number() over w - 2 as n, at, stream, text, place
    from (
      select object_id, first, null::timestamptz as at, null as stream, null as text, 0 as place from tail
      union all
      select object_id, null, at, stream, text, place from line
    ) u window w as (partition by object_id order by place)
  ), written as (
    insert into log_line (object_id, n, at, stream, text)
    select object_id, n, at, stream, text from placed where place > 0 and n is not null
  )
  select object_id as id, kept_lines as lines, kept_bytes::float8 as bytes from tail`,
  params: [array(uuid), array(timestamptz), array(text), array(text), boolean],
  row: { id: table.logTail.objectId, lines: table.logTail.keptLines, bytes: float8 },
})

/**
 * Appends a batch, in its order, all or nothing. Lines of objects that are gone are skipped. Beyond the bounds of an
 * object its oldest lines go.
 */
export async function appendLogLines(
  client: Client,
  lines: readonly LogLine[],
  bounds: LogBounds = LOG_BOUNDS,
): Promise<void> {
  if (lines.length === 0) return
  let tails = await append(client, lines, false)
  if (tails.length === 0) {
    await openTails(client, [...new Set(lines.map(({ objectId }) => objectId))])
    tails = await append(client, lines, true)
  }
  const full = tails.filter((tail) => tail.lines > bounds.maxLines || tail.bytes > bounds.maxBytes)
  await prune(
    client,
    full.map(({ id }) => id),
    bounds,
  )
}

async function append(client: Client, lines: readonly LogLine[], leaveOut: boolean): Promise<readonly Tail[]> {
  const { rows } = await APPEND.query(client, [
    lines.map(({ objectId }) => objectId),
    lines.map(({ at }) => at),
    lines.map(({ stream }) => stream),
    lines.map(({ text }) => text),
    leaveOut,
  ])
  return rows
}

const OPEN_LOG_TAILS = statement({
  name: 'open-log-tails',
  text: `with open as (
        select o.id from object o where o.id = any($1::uuid[]) and not exists (select from log_tail t where t.object_id = o.id)
        order by o.id for key share skip locked
      )
      insert into log_tail (object_id) select id from open order by id on conflict do nothing`,
  params: [array(uuid)],
})

/** Creates tails for the first lines of objects. An object that is being deleted gets none: nothing would delete it again. */
async function openTails(client: Client, ids: readonly string[]): Promise<void> {
  await OPEN_LOG_TAILS.query(client, [ids])
}

// Only if the tail is as in the statement's snapshot: otherwise the statement has waited for another writer, and starts
// again. The notice of the loss replaces the last pruned line.
const PRUNE = statement({
  name: 'prune-log-lines',
  text: `with locked as materialized (
    select * from log_tail where object_id = any($1::uuid[]) and (kept_lines > $2 or kept_bytes > $3)
    order by object_id for update
  ), tail as materialized (
    select k.* from locked k join log_tail seen on seen.object_id = k.object_id and row(seen.*) = row(k.*)
  ), walked as (
    select t.object_id, t.kept_lines, t.kept_bytes, t.dropped, l.n, octet_length(l.text) as bytes,
      row_number() over w - 1 as lines_before, sum(octet_length(l.text)) over w - octet_length(l.text) as bytes_before
    from tail t join log_line l on l.object_id = t.object_id
    window w as (partition by l.object_id order by l.n rows unbounded preceding)
  ), cut as (
    select distinct on (object_id) object_id, n, bytes, lines_before as lines, bytes_before,
      dropped + lines_before + case when dropped > 0 then 0 else 1 end as dropped
    from walked where lines_before <= kept_lines - $4 or bytes_before < kept_bytes - $5
    order by object_id, n desc
  ), deleted as (
    delete from log_line l using cut c where l.object_id = c.object_id and l.n < c.n
  ), marked as (
    update log_line l set stream = 'SYSTEM', text = format('%s lines before the next one are not kept any more.', c.dropped)
    from cut c where l.object_id = c.object_id and l.n = c.n returning l.object_id, octet_length(l.text) as bytes
  ), counted as (
    update log_tail t set kept_lines = t.kept_lines - c.lines, dropped = c.dropped,
      kept_bytes = t.kept_bytes - c.bytes_before - c.bytes + m.bytes
    from cut c join marked m on m.object_id = c.object_id where t.object_id = c.object_id
  )
  select k.object_id as id from locked k where k.object_id not in (select object_id from tail)`,
  params: [array(uuid), integer, bigint, integer, bigint],
  row: { id: table.logTail.objectId },
})

/** Objects of one statement. */
const PRUNED = 100

async function prune(client: Client, ids: readonly string[], { maxLines, maxBytes }: LogBounds): Promise<void> {
  let pending = ids
  while (pending.length > 0) {
    const { rows } = await PRUNE.query(client, [
      pending.slice(0, PRUNED),
      maxLines,
      maxBytes,
      Math.floor(maxLines * KEPT_SHARE),
      Math.floor(maxBytes * KEPT_SHARE),
    ])
    pending = [...rows.map(({ id }) => id), ...pending.slice(PRUNED)]
  }
}
