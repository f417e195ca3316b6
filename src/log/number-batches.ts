import type { Pool } from 'pg'
import type { PhaseChangeRecord } from '../core/ports/phase-change.ts'
import { bigint, boolean, integer, text } from '../store/column-types.ts'
import { INSTANCE } from '../store/log-mark.ts'
import { statement } from '../store/statement.ts'
import { RECORD, RECORD_COLUMNS, toRecord } from './record.ts'

/** Advisory lock of the numbering process. The digits are arbitrary, but must be unique. */
export const NUMBERING_LOCK = 7_270_737_001
/** Batches of one transaction; more are numbered by the next one. */
const PAGE = 5_000

export interface Numbered {
  /** The database that numbered them. */
  readonly instance: string
  readonly epoch: number
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

/**
 * One statement that is its own transaction, so that a process that is paused or cut off cannot keep the lock. The work is
 * done by the database function log_number.
 */
const NUMBER = statement({
  name: 'log_number',
  text: `select id, first_seq, n, ${INSTANCE} as instance, (select epoch from log_meta) as epoch
    from log_number(${NUMBERING_LOCK}, ${PAGE})`,
  row: { id: bigint, first_seq: bigint, n: integer, instance: text, epoch: integer },
})

/**
 * Gives the next sequences to committed batches, one page of them, in the order of their ids; null when none waits. The
 * result is committed. Any number of processes may call it at once.
 */
export async function numberBatches(pool: Pool): Promise<Numbered | null> {
  const { rows } = await NUMBER.query(pool, [])
  const batches = rows.map(({ id, first_seq, n }) => ({ id: String(id), from: first_seq, n }))
  const [row] = rows
  const [first, last] = [batches[0], batches.at(-1)]
  if (!row || !first || !last) return null
  const { instance, epoch } = row
  const through = last.from + last.n - 1
  return { instance, epoch, from: first.from, through, batches, full: batches.length === PAGE }
}

const LOG_WAITING = statement({
  name: 'log_waiting',
  text: 'select exists (select from log_batch where first_seq is null) as waiting',
  row: { waiting: boolean },
})

/** True if any batch is not numbered yet; takes no lock. */
export async function isAnythingWaiting(pool: Pool): Promise<boolean> {
  const { rows } = await LOG_WAITING.query(pool, [])
  return rows[0]?.waiting ?? false
}

const RANGE_SQL = statement({
  name: 'log_numbered',
  text: `select ${RECORD_COLUMNS}, ${INSTANCE} as instance from log_batch b
  cross join lateral (select * from phase_change c where c.batch_id = b.id order by c.idx) c
  where b.first_seq between $1 and $2 order by b.first_seq, c.idx`,
  params: [bigint, bigint],
  row: { ...RECORD, instance: text },
})

/** The changes of whole batches that were numbered together; null: the database has been replaced since. */
export async function readNumbered(
  pool: Pool,
  { instance, from, through }: Pick<Numbered, 'instance' | 'from' | 'through'>,
): Promise<readonly PhaseChangeRecord[] | null> {
  const { rows } = await RANGE_SQL.query(pool, [from, through])
  return rows[0]?.instance === instance ? rows.map(toRecord) : null
}
