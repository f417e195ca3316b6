import type { Pool } from 'pg'
import type { PhaseChangeRecord } from '../core/ports.ts'
import { together } from '../store/together.ts'
import { RECORD_COLUMNS, type RecordRow, toRecord } from './record.ts'

/** Held by whoever numbers: the digits have no meaning, they only must be nobody else's. */
export const NUMBERING_LOCK = 7_270_737_001
/** Bounds one transaction; what is left is the next one's. */
const PAGE = 5_000

const NUMBER_SQL = `with waiting as (
    select id, n from log_batch where first_seq is null order by id limit ${PAGE}
  ), head as (
    select greatest((select floor_seq from log_meta), coalesce((
      select first_seq + n - 1 from log_batch where first_seq is not null order by first_seq desc limit 1
    ), 0)) as seq
  ), placed as (
    select w.id, head.seq + 1 + sum(w.n) over (order by w.id) - w.n as first_seq from waiting w, head
  ), numbered as (
    update log_batch b set first_seq = p.first_seq from placed p where b.id = p.id returning b.id, b.first_seq, b.n
  )
  select id, first_seq, n from numbered order by first_seq`

export interface Numbered {
  readonly from: number
  readonly through: number
  /** In order. */
  readonly batches: readonly NumberedBatch[]
  /** There may be more to number. */
  readonly full: boolean
}

export interface NumberedBatch {
  readonly id: string
  readonly from: number
  readonly n: number
}

type Count = string | number | bigint

/**
 * They travel together, so that no process that is paused or cut off can keep the lock. The lock is a statement of its
 * own: the next one's snapshot must be younger than the previous holder's commit. And a number must survive a crash
 * once a reader may have seen it, even on a server that does not flush by default.
 */
const BEGIN = { name: 'log_begin', text: 'begin isolation level read committed' }
const LOCK = { name: 'log_lock', text: `select pg_advisory_xact_lock(${NUMBERING_LOCK})` }
const NUMBER = { name: 'log_number', text: NUMBER_SQL }
const DURABLY = {
  name: 'log_durably',
  text: `select set_config('synchronous_commit', 'on', true) where current_setting('synchronous_commit') = 'off'`,
}
const COMMIT = { name: 'commit', text: 'commit' }

interface NumberRow {
  readonly id: Count
  readonly first_seq: Count
  readonly n: number
}

/**
 * Gives the next sequences to committed batches, one page of them, in the order of their ids; null when none waits.
 * What is returned is committed. Any number of processes may call it at once.
 */
export async function numberBatches(pool: Pool): Promise<Numbered | null> {
  const client = await pool.connect()
  let broken = true
  try {
    const [, , { rows }] = await together([
      client.query(BEGIN),
      client.query(LOCK),
      client.query<NumberRow>(NUMBER),
      client.query(DURABLY),
      client.query(COMMIT),
    ])
    broken = false
    const batches = rows.map(({ id, first_seq, n }) => ({ id: String(id), from: Number(first_seq), n }))
    const [first, last] = [batches[0], batches.at(-1)]
    if (!first || !last) return null
    return { from: first.from, through: last.from + last.n - 1, batches, full: batches.length === PAGE }
  } finally {
    // After a failure the connection may still be in the transaction: it is closed.
    client.release(broken)
  }
}

/** Whether a pass would find something; takes no lock. */
export async function isAnythingWaiting(pool: Pool): Promise<boolean> {
  const { rows } = await pool.query<{ waiting: boolean }>({
    name: 'log_waiting',
    text: 'select exists (select from log_batch where first_seq is null) as waiting',
  })
  return rows[0]?.waiting ?? false
}

const RANGE_SQL = `select ${RECORD_COLUMNS} from log_batch b
  cross join lateral (select * from phase_change c where c.batch_id = b.id order by c.idx) c
  where b.first_seq between $1 and $2 order by b.first_seq, c.idx`

/** The changes of whole batches that were numbered together. */
export async function readNumbered(
  pool: Pool,
  { from, through }: Pick<Numbered, 'from' | 'through'>,
): Promise<readonly PhaseChangeRecord[]> {
  const { rows } = await pool.query<RecordRow>({ name: 'log_numbered', text: RANGE_SQL, values: [from, through] })
  return rows.map(toRecord)
}
