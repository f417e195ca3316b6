import type { PhaseChangeRecord } from '../core/ports/phase-change.ts'
import { bigint } from '../store/column-types.ts'
import type { RowOf } from '../store/statement.ts'
import { phaseChange } from '../store/views.ts'

/** The select list of a record: `c` is `phase_change`, `b` its `log_batch`. */
export const RECORD_COLUMNS = `b.first_seq + c.idx as "sequence", c.batch_id as "batchId", c.idx, c.object_id as "objectId",
  c.root_id as "rootId", c.parent_id as "parentId", c.parent_path as "parentPath", c.project_id as "projectId", c.project_name as "projectName",
  c.kind, c.name, c.machine, c."from", c."to", c.actor, c.by, c.by_id as "byId", c.reason, c.message, c.job_id as "jobId", c.revision, c.rejected, c.at`

/** The columns of `RECORD_COLUMNS`. */
export const RECORD = { sequence: bigint, batchId: bigint, ...phaseChange }
export type RecordRow = RowOf<typeof RECORD>

export const toRecord = (row: RecordRow): PhaseChangeRecord => ({
  sequence: row.sequence,
  batchId: String(row.batchId),
  idx: row.idx,
  objectId: row.objectId,
  rootId: row.rootId,
  parentId: row.parentId,
  parentPath: row.parentPath,
  projectId: row.projectId,
  projectName: row.projectName,
  kind: row.kind,
  name: row.name,
  machine: row.machine,
  from: row.from,
  to: row.to,
  actor: row.actor,
  by: row.by,
  byId: row.byId,
  reason: row.reason,
  message: row.message,
  jobId: row.jobId,
  revision: row.revision,
  rejected: row.rejected,
  at: row.at,
})
