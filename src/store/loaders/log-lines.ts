import type { Client } from '../client.ts'
import { array, bigint, boolean, integer, nullable, text, textOf, uuid } from '../column-types.ts'
import { statement } from '../statement.ts'
import * as table from '../tables.ts'
import { byKey, direction, type Window } from './window.ts'

export interface LogLineRow {
  /** Its place among the lines of its object: a decimal number as text. */
  readonly n: string
  readonly at: Date
  readonly stream: 'STDOUT' | 'STDERR' | 'STEP' | 'SYSTEM'
  readonly text: string
}

const logLines = (order: 'asc' | 'desc') =>
  statement({
    text: `select k.id as key, p.n::text as n, p.at, p.stream, p.text from unnest($1::uuid[]) k(id) cross join lateral (
        select l.n, l.at, l.stream, l.text from log_line l where l.object_id = k.id
          and ($2::bigint is null or l.n > $2) and ($3::bigint is null or l.n < $3)
        order by l.n ${order} limit $4
      ) p order by k.id, p.n`,
    params: [array(uuid), nullable(bigint), nullable(bigint), bigint],
    row: {
      key: uuid,
      n: text,
      at: table.logLine.at,
      stream: textOf<LogLineRow['stream']>(),
      text: table.logLine.text,
    },
  })
const LOG_LINES = { asc: logLines('asc'), desc: logLines('desc') }

/** A page of each object's lines, oldest first: one statement for all of them. */
export async function loadLogLines(
  client: Client,
  ids: readonly string[],
  window: Window<string>,
): Promise<ReadonlyMap<string, readonly LogLineRow[]>> {
  const { after, before, limit } = window
  const { rows } = await LOG_LINES[direction(window)].query(client, [ids, after, before, limit])
  return byKey(ids, rows, ({ key: _, ...line }) => line)
}

const COUNT_LOG_LINES = statement({
  text: 'select object_id as key, kept_lines as count from log_tail where object_id = any($1::uuid[])',
  params: [array(uuid)],
  row: { key: table.logTail.objectId, count: table.logTail.keptLines },
})

export async function countLogLines(client: Client, ids: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const { rows } = await COUNT_LOG_LINES.query(client, [ids])
  return new Map(rows.map(({ key, count }) => [key, count]))
}

export interface LogTail {
  readonly objectId: string
  readonly after: string
}

const LOAD_LOG_TAILS = statement({
  text: `select k.place::int as place, exists (select from object o where o.id = k.id) as exists,
        p.n::text as n, p.at, p.stream, p.text
      from unnest($1::uuid[], $2::bigint[]) with ordinality k(id, after, place) left join lateral (
        select l.n, l.at, l.stream, l.text from log_line l where l.object_id = k.id and l.n > k.after order by l.n limit $3
      ) p on true order by k.place, p.n`,
  params: [array(uuid), array(bigint), bigint],
  row: {
    place: integer,
    exists: boolean,
    n: nullable(text),
    at: nullable(table.logLine.at),
    stream: nullable(textOf<LogLineRow['stream']>()),
    text: nullable(table.logLine.text),
  },
})

/** At most `limit` lines after each position, in the order of the request; null once the object and its lines are gone. */
export async function loadLogTails(
  client: Client,
  tails: readonly LogTail[],
  limit: number,
): Promise<readonly (readonly LogLineRow[] | null)[]> {
  const { rows } = await LOAD_LOG_TAILS.query(client, [
    tails.map(({ objectId }) => objectId),
    tails.map(({ after }) => after),
    limit,
  ])
  const found = tails.map((): LogLineRow[] | null => null)
  for (const { place, exists, n, at, stream, text } of rows) {
    const lines = found[place - 1] ?? []
    if (n !== null && at !== null && stream !== null && text !== null) lines.push({ n, at, stream, text })
    if (exists || lines.length > 0) found[place - 1] = lines
  }
  return found
}
