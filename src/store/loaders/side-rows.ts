import type { ObjectFailure } from '../../core/errors.ts'
import type { WorkState } from '../../core/tree.ts'
import type { Client } from '../client.ts'
import { array, bigint, json, nullable, smallintOf, uuid } from '../column-types.ts'
import { statement } from '../statement.ts'
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

const LOAD_SPECS = statement({
  text: `select key, case when bytes <= $2 then spec end as spec, labels, bytes from (
      select object_id as key, spec, labels,
        sum(octet_length(spec::text)) over (order by object_id rows unbounded preceding)::bigint as bytes
      from object_spec where object_id = any($1::uuid[])
    ) s`,
  params: [array(uuid), bigint],
  row: { key: uuid, spec: nullable(table.objectSpec.spec), labels: json<SpecRow['labels']>(), bytes: bigint },
})

/** Specs with `maxBytes` altogether, and how many bytes they have; null: they have more. */
export async function loadSpecs(
  client: Client,
  ids: readonly string[],
  maxBytes: number,
): Promise<{ readonly specs: ReadonlyMap<string, SpecRow>; readonly bytes: number } | null> {
  const { rows } = await LOAD_SPECS.query(client, [ids, maxBytes])
  const bytes = rows.reduce((most, row) => Math.max(most, row.bytes), 0)
  return bytes > maxBytes ? null : { specs: new Map(rows.map((row) => [row.key, row])), bytes }
}

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
    w.picked_up_at as "pickedUpAt", w.abort_requested_at as "abortRequestedAt", w.due_at as "dueAt",
    w.progressing_ms as "progressingMs"
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
    progressingMs: table.work.progressingMs,
  },
)
