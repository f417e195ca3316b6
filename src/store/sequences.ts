import { DatabaseError } from 'pg'
import type { Logger } from '../logger.ts'
import type { Client } from './client.ts'

/**
 * All sequences of the schema, with the column that each numbers. After a logical failover or a restore of some tables, a sequence
 * may be behind its column: it gives numbers that are taken, or places before those who wait already.
 */
export const SEQUENCES = [
  { sequence: 'log_batch_id_seq', table: 'log_batch', column: 'id' },
  { sequence: 'wake_id_seq', table: 'wake', column: 'id' },
  { sequence: 'log_line_seq', table: 'log_line', column: 'seq' },
  { sequence: 'work_seq', table: 'work', column: 'seq' },
  { sequence: 'workload_seq', table: 'workload', column: 'seq' },
  { sequence: 'lock_ticket', table: 'lock', column: 'ticket' },
  { sequence: 'notification_seq', table: 'notification', column: 'seq' },
  { sequence: 'limit_ticket_seq', table: 'limit_ticket', column: 'seq' },
] as const
type Sequence = (typeof SEQUENCES)[number]

/** Constraints that a reused number violates. */
const VIOLATED = new Set(['log_batch_pkey', 'wake_pkey'])

const isBehind = ({ sequence, table, column }: Sequence): string =>
  `(select max("${column}") from "${table}") >= (select last_value + is_called::int from "${sequence}")`

/** An expression of SQL: the next batch of the log could not be written. */
export const LOG_IS_BEHIND = `coalesce(${isBehind(SEQUENCES[0])}, false)`

const FIND = SEQUENCES.map((each, i) => `select ${i} as i where ${isBehind(each)}`).join(' union all ')

export const isGivenTwice = (error: unknown): boolean =>
  error instanceof DatabaseError && error.code === '23505' && VIOLATED.has(error.constraint ?? '')

/** Sets each sequence that is behind to the highest number of its column. The connection must not be in a transaction. */
export async function catchUpSequences(client: Client, logger: Logger): Promise<void> {
  const { rows } = await client.query<{ i: number }>({ text: FIND })
  for (const { i } of rows) {
    const behind = SEQUENCES[i] as Sequence
    const { sequence, table, column } = behind
    // One statement, one transaction. Without the lock, a number that is given meanwhile could be given again.
    await client.query({
      text: `do $$ begin
        lock table "${table}" in share row exclusive mode;
        perform setval('"${sequence}"', max("${column}")) from "${table}" having ${isBehind(behind)};
      end $$`,
    })
    logger.warn(
      { sequence, table },
      'a sequence was behind its table, as after a failover without it: it has caught up',
    )
  }
}
