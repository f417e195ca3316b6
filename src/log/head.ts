import type { Client } from '../store/client.ts'

/** What the log holds: the sequences after `floor` and up to `head`. `logId` changes when it was restored. */
export interface LogHead {
  readonly logId: string
  readonly floor: number
  readonly head: number
}

/** One row `log_id, floor_seq, head`. Numbered is what is committed, so no snapshot ever sees a sequence beyond it. */
export const HEAD_SQL = `select m.log_id, m.floor_seq, greatest(m.floor_seq, coalesce((
    select l.first_seq + l.n - 1 from log_batch l where l.first_seq is not null order by l.first_seq desc limit 1
  ), 0)) as head from log_meta m`

export interface HeadRow {
  readonly log_id: string
  readonly floor_seq: string | number | bigint
  readonly head: string | number | bigint
}

/** Given a client inside of a transaction, this is the head of that transaction's snapshot. */
export async function readHead(client: Client): Promise<LogHead> {
  const { rows } = await client.query<HeadRow>({ name: 'log_head', text: HEAD_SQL })
  const row = rows[0]
  if (!row) throw new Error('log_meta has no row: the database was not migrated.')
  return toHead(row)
}

/** The head as it is after the call: read at once, or together with all who ask while it is being read. */
export function sharedHead(client: Client): () => Promise<LogHead> {
  let running: Promise<LogHead> | null = null
  let next: Promise<LogHead> | null = null
  const start = (): Promise<LogHead> => {
    const reading = readHead(client)
    running = reading
    const done = () => {
      if (running === reading) running = null
    }
    reading.then(done, done)
    return reading
  }
  return () => {
    if (!running) return start()
    next ??= running
      .catch(() => undefined)
      .then(() => {
        next = null
        return start()
      })
    return next
  }
}

export const toHead = (row: HeadRow): LogHead => ({
  logId: row.log_id,
  floor: Number(row.floor_seq),
  head: Number(row.head),
})
