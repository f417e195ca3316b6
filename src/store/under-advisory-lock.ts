import type { Pool, PoolClient } from 'pg'
import { bigint, boolean } from './column-types.ts'
import { inTransaction } from './in-transaction.ts'
import { statement } from './statement.ts'

/** Work that one process does at a time, in steps of one short transaction each. The digits are arbitrary, but must be unique. */
const TURNS = {
  pruneLog: 7_270_737_002,
  pruneAudit: 7_270_737_004,
  indexLog: 7_270_737_010,
  indexOutput: 7_270_737_011,
  askForGates: 7_270_737_012,
  sealLog: 7_270_737_013,
} as const

const TAKE_TURN = statement({
  text: 'select pg_try_advisory_xact_lock($1) as mine',
  params: [bigint],
  row: { mine: boolean },
})

/** Runs a step in a transaction that has the lock; null: another process has it, and nothing is run. */
export const underAdvisoryLock = <T>(
  pool: Pool,
  turn: keyof typeof TURNS,
  step: (client: PoolClient) => Promise<T>,
): Promise<T | null> =>
  inTransaction(pool, async (client) => {
    // A separate statement: the snapshot of the next one must be younger than the commit of the previous lock holder.
    const { rows } = await TAKE_TURN.query(client, [TURNS[turn]])
    return rows[0]?.mine === true ? await step(client) : null
  })
