import type { PhaseChangeRecord } from '../core/ports/phase-change.ts'
import type { Actor, ObjectKind, Phase } from '../core/vocabulary.ts'

/** The select list of a record: `c` is `phase_change`, `b` its `log_batch`. */
export const RECORD_COLUMNS = `b.first_seq + c.idx as "sequence", c.batch_id as "batchId", c.idx, c.object_id as "objectId",
  c.root_id as "rootId", c.parent_id as "parentId", c.project_name as "projectName", c.kind, c.name, c.machine,
  c."from", c."to", c.actor, c.by, c.reason, c.message, c.job_id as "jobId", c.revision, c.rejected, c.at`

/** A row of `RECORD_COLUMNS` as pg hands it out: bigints as text, unless the pool parses them. */
export interface RecordRow {
  readonly sequence: string | number | bigint
  readonly batchId: string | number | bigint
  readonly idx: number
  readonly objectId: string
  readonly rootId: string
  readonly parentId: string | null
  readonly projectName: string
  readonly kind: ObjectKind
  readonly name: string
  readonly machine: string
  readonly from: Phase | null
  readonly to: Phase
  readonly actor: Actor
  readonly by: string | null
  readonly reason: string | null
  readonly message: string | null
  readonly jobId: string | null
  readonly revision: number | null
  readonly rejected: boolean
  readonly at: Date
}

export const toRecord = (row: RecordRow): PhaseChangeRecord => ({
  sequence: Number(row.sequence),
  batchId: String(row.batchId),
  idx: row.idx,
  objectId: row.objectId,
  rootId: row.rootId,
  parentId: row.parentId,
  projectName: row.projectName,
  kind: row.kind,
  name: row.name,
  machine: row.machine,
  from: row.from,
  to: row.to,
  actor: row.actor,
  by: row.by,
  reason: row.reason,
  message: row.message,
  jobId: row.jobId,
  revision: row.revision,
  rejected: row.rejected,
  at: row.at,
})
