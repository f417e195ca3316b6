import type { PhaseChangeRecord } from '../core/ports/phase-change.ts'
import { bigint } from '../store/column-types.ts'
import type { RowOf } from '../store/statement.ts'
import { PHASE_CHANGE, phaseChange } from '../store/views.ts'

/** The select list of a record: `c` is `phase_change`, `b` its `log_batch`. */
export const RECORD_COLUMNS = `b.first_seq + c.idx as "sequence", c.batch_id as "batchId", ${PHASE_CHANGE}`

/** The columns of `RECORD_COLUMNS`. */
export const RECORD = { sequence: bigint, batchId: bigint, ...phaseChange }
export type RecordRow = RowOf<typeof RECORD>
export type Field = keyof typeof RECORD
export const FIELDS = Object.keys(RECORD) as readonly Field[]

const BLANK = Object.fromEntries(FIELDS.map((field) => [field, null]))
/** A record whose fields are null. Copies of one object share a hidden class, which makes records faster to filter. */
export const blankRecord = (): Record<Field, unknown> => ({ ...BLANK }) as Record<Field, unknown>

export function toRecord(row: RecordRow): PhaseChangeRecord {
  const record = blankRecord()
  for (const field of FIELDS) record[field] = row[field]
  record.batchId = String(row.batchId)
  return record as unknown as PhaseChangeRecord
}
