import type { Change, WrittenBatch } from '../core/ports/phase-change.ts'
import { binaryArray, binaryUuids } from '../store/binary.ts'
import type { Client } from '../store/client.ts'
import { array, bigint, boolean, integer, nullable, text, timestamptz, uuid } from '../store/column-types.ts'
import { type StatementValues, statement } from '../store/statement.ts'
import * as table from '../store/tables.ts'

/** The columns that many changes of one transaction share: stored once for all of them. */
type Step = Pick<
  Change,
  'projectName' | 'kind' | 'machine' | 'from' | 'to' | 'actor' | 'by' | 'byId' | 'reason' | 'jobId' | 'rejected' | 'at'
>

const APPEND = statement({
  name: 'log_append',
  text: `with batch as (
      insert into log_batch (id, n) values (nextval('log_batch_id_seq'), $1) returning id
    ), content as (
      insert into log_content (batch_id, root_id, object_ids, parent_ids, names, revisions, messages, steps,
        counts, project_names, kinds, machines, "from", "to", actors, "by", reasons, job_ids, rejected, at,
        project_id, by_ids, parent_paths)
      select id, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $22, $23, $24 from batch
    ), objects as (
      insert into log_object (object_id, batch_id) select o.id, batch.id from batch, unnest($21::uuid[]) o(id)
    )
    select id from batch`,
  params: [
    integer,
    uuid,
    array(uuid),
    array(nullable(uuid)),
    array(text),
    array(nullable(integer)),
    array(nullable(text)),
    array(integer),
    array(integer),
    array(text),
    array(table.objectKind),
    array(text),
    array(nullable(table.phase)),
    array(table.phase),
    array(table.actor),
    array(nullable(text)),
    array(nullable(text)),
    array(nullable(uuid)),
    array(boolean),
    array(timestamptz),
    array(uuid),
    nullable(uuid),
    array(nullable(uuid)),
    array(nullable(text)),
  ],
  row: { id: bigint },
})

/**
 * Writes one batch of the log, in order, in one statement. Call it at most once per transaction, with the root row locked,
 * so that batch ids grow in commit order within a tree. All changes must be of that tree, and so of its project. Without changes it writes
 * nothing. Returns the batch to announce after the commit.
 */
export async function appendChanges(client: Client, changes: readonly Change[]): Promise<readonly WrittenBatch[]> {
  const [first] = changes
  if (!first) return []
  const { rows } = await APPEND.query(client, valuesOf(first, changes))
  return rows.map(({ id }) => ({ id: String(id), changes }))
}

function valuesOf({ rootId, projectId }: Change, changes: readonly Change[]): StatementValues<typeof APPEND> {
  const { steps, counts, stepOf } = stepsOf(changes)
  return [
    changes.length,
    rootId,
    binaryArray('uuid', changes, (c) => c.objectId),
    binaryArray('uuid', changes, (c) => c.parentId),
    binaryArray('text', changes, (c) => c.name),
    binaryArray('integer', changes, (c) => c.revision),
    binaryArray('text', changes, (c) => c.message),
    binaryArray('integer', stepOf, (step) => step),
    counts,
    steps.map((s) => s.projectName),
    steps.map((s) => s.kind),
    steps.map((s) => s.machine),
    steps.map((s) => s.from),
    steps.map((s) => s.to),
    steps.map((s) => s.actor),
    steps.map((s) => s.by),
    steps.map((s) => s.reason),
    steps.map((s) => s.jobId),
    steps.map((s) => s.rejected),
    steps.map((s) => s.at.toISOString()),
    binaryUuids([...new Set(changes.map((c) => c.objectId))]),
    projectId,
    steps.map((s) => s.byId),
    binaryArray('text', changes, (c) => c.parentPath),
  ]
}

/** Only the last steps are compared: a duplicate of an earlier one costs a few bytes. */
const COMPARED = 16

interface Steps {
  readonly steps: readonly Step[]
  /** Number of changes of each step. */
  readonly counts: readonly number[]
  /** The step of each change, from 1. */
  readonly stepOf: readonly number[]
}

function stepsOf(changes: readonly Change[]): Steps {
  const steps: Step[] = []
  const counts: number[] = []
  const stepOf = changes.map((change) => {
    let i = steps.length - 1
    const last = Math.max(0, steps.length - COMPARED)
    while (i >= last && !isSame(steps[i] as Step, change)) i--
    if (i < last) i = steps.push(change) - 1
    counts[i] = (counts[i] ?? 0) + 1
    return i + 1
  })
  return { steps, counts, stepOf }
}

const isSame = (a: Step, b: Step): boolean =>
  a.to === b.to &&
  a.from === b.from &&
  a.kind === b.kind &&
  a.actor === b.actor &&
  a.byId === b.byId &&
  a.by === b.by &&
  a.reason === b.reason &&
  a.jobId === b.jobId &&
  a.rejected === b.rejected &&
  a.machine === b.machine &&
  a.projectName === b.projectName &&
  a.at.getTime() === b.at.getTime()
