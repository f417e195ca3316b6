import type { ObjectFailure } from '../../core/errors.ts'
import type { WorkState } from '../../core/tree.ts'
import { json, nullable, smallintOf } from '../column-types.ts'
import * as table from '../tables.ts'
import { keyed } from './keyed.ts'

/** The side rows of objects. */

export interface SpecRow {
  readonly spec: unknown
  readonly labels: Readonly<Record<string, string>>
}
export interface ProgressRow {
  readonly step: string | null
  readonly value: number | null
  readonly total: number | null
  readonly unit: string | null
}

export const loadSpecs = keyed(
  'select object_id as key, spec, labels from object_spec where object_id = any($1::uuid[])',
  { spec: table.objectSpec.spec, labels: json<SpecRow['labels']>() },
)

/** Without the specs, which can be long. */
export const loadLabels = keyed('select object_id as key, labels from object_spec where object_id = any($1::uuid[])', {
  labels: json<SpecRow['labels']>(),
})

export const loadStatuses = keyed(
  'select object_id as key, error, progress from object_status where object_id = any($1::uuid[])',
  { error: nullable(json<ObjectFailure>()), progress: nullable(json<ProgressRow>()) },
)

/** The columns of work that the API shows: never its config, never its fence. */
export const loadWork = keyed(
  `select w.object_id as key, w.type, w.target, w.action, w.state, w.job_id as "jobId", p.name as holder, w.instance,
    w.attempt, w.lease_until as "leaseUntil", w.offer_after as "offerAfter", w.triggered_at as "triggeredAt",
    w.picked_up_at as "pickedUpAt", w.abort_requested_at as "abortRequestedAt", w.due_at as "dueAt"
  from work w left join principal p on p.id = w.principal_id where w.object_id = any($1::uuid[])`,
  {
    type: table.work.type,
    target: table.work.target,
    action: table.work.action,
    state: smallintOf<WorkState>(),
    jobId: table.work.jobId,
    holder: nullable(table.principal.name),
    instance: table.work.instance,
    attempt: table.work.attempt,
    leaseUntil: table.work.leaseUntil,
    offerAfter: table.work.offerAfter,
    triggeredAt: table.work.triggeredAt,
    pickedUpAt: table.work.pickedUpAt,
    abortRequestedAt: table.work.abortRequestedAt,
    dueAt: table.work.dueAt,
  },
)
