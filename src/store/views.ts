import type { Change } from '../core/ports/phase-change.ts'
import { boolean, integer, nullable, type Reads, text, timestamptz, uuid } from './column-types.ts'
import { columnOf } from './columns.ts'
import { actor, objectKind, phase, work } from './tables.ts'

/**
 * The columns of the log, by how `log_content` stores them: once for the transaction, in an array with an element for each change, and in
 * an array with an element for each step, which many changes share. All that reads, writes, numbers and announces changes has them from here.
 */
export const logColumns = {
  transaction: { rootId: uuid, projectId: nullable(uuid) },
  change: {
    objectId: uuid,
    parentId: nullable(uuid),
    parentPath: nullable(text),
    name: text,
    revision: nullable(integer),
    message: nullable(text),
  },
  // Steps are compared in this order: those that differ most often come first.
  step: {
    to: phase,
    from: nullable(phase),
    kind: objectKind,
    actor,
    byId: nullable(uuid),
    by: nullable(text),
    reason: nullable(text),
    jobId: nullable(uuid),
    rejected: boolean,
    machine: text,
    projectName: text,
    at: timestamptz,
  },
}
const { transaction, change, step } = logColumns
const content = { ...transaction, ...change, ...step } satisfies { readonly [K in keyof Change]: Reads<Change[K]> }

/** The columns of the view `phase_change`, apart from those that give the change its place in the log. */
export const phaseChange = { idx: integer, ...content }
/** Selects them from `c`. */
export const PHASE_CHANGE = Object.keys(phaseChange)
  .map((property) => `c."${columnOf(property)}" as "${property}"`)
  .join(', ')

/** The columns of the view `agent_work` that statements outside of this folder return. */
export const agentWork = {
  type: work.type,
  target: work.target,
  jobId: work.jobId,
  instance: work.instance,
  attempt: work.attempt,
  triggeredAt: work.triggeredAt,
  pickedUpAt: work.pickedUpAt,
  offerAfter: work.offerAfter,
  leaseUntil: work.leaseUntil,
  abortRequestedAt: work.abortRequestedAt,
  abortCode: work.abortCode,
  progressingMs: work.progressingMs,
}
