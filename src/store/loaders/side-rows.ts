import type { ObjectFailure } from '../../core/errors.ts'
import type { Work } from '../../core/tree.ts'
import type { Client } from '../client.ts'

/** What stands beside the lifecycle rows, for many objects in one statement. An object without a row has no entry. */

export interface SpecRow {
  readonly spec: unknown
  readonly labels: Readonly<Record<string, string>>
}
export interface StatusRow {
  readonly error: ObjectFailure | null
  readonly progress: ProgressRow | null
}
export interface ProgressRow {
  readonly step: string | null
  readonly value: number | null
  readonly total: number | null
  readonly unit: string | null
}
/** What may be shown of the work that agents have of an object: never its config, never its fence. */
export type WorkRow = Pick<
  Work,
  | 'type'
  | 'target'
  | 'action'
  | 'state'
  | 'jobId'
  | 'principal'
  | 'instance'
  | 'attempt'
  | 'leaseUntil'
  | 'offerAfter'
  | 'triggeredAt'
  | 'pickedUpAt'
  | 'abortRequestedAt'
  | 'dueAt'
>

type Keyed<T> = T & { readonly key: string }

async function load<T>(client: Client, text: string, ids: readonly string[]): Promise<ReadonlyMap<string, T>> {
  const { rows } = await client.query<Keyed<T>>({ text, values: [ids] })
  return new Map(rows.map((row) => [row.key, row]))
}

export const loadSpecs = (client: Client, ids: readonly string[]): Promise<ReadonlyMap<string, SpecRow>> =>
  load(client, 'select object_id as key, spec, labels from object_spec where object_id = any($1::uuid[])', ids)

/** Without the specs, which can be long. */
export const loadLabels = (
  client: Client,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Pick<SpecRow, 'labels'>>> =>
  load(client, 'select object_id as key, labels from object_spec where object_id = any($1::uuid[])', ids)

export const loadStatuses = (client: Client, ids: readonly string[]): Promise<ReadonlyMap<string, StatusRow>> =>
  load(client, 'select object_id as key, error, progress from object_status where object_id = any($1::uuid[])', ids)

const WORK = `select object_id as key, type, target, action, state, job_id as "jobId", principal, instance, attempt,
    lease_until as "leaseUntil", offer_after as "offerAfter", triggered_at as "triggeredAt", picked_up_at as "pickedUpAt",
    abort_requested_at as "abortRequestedAt", due_at as "dueAt"
  from work where object_id = any($1::uuid[])`

export const loadWork = (client: Client, ids: readonly string[]): Promise<ReadonlyMap<string, WorkRow>> =>
  load(client, WORK, ids)
