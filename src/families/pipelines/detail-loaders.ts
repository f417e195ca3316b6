import type { ObjectRow } from '../../core/tree.ts'
import type { Client } from '../../store/client.ts'
import { loadKeyed } from '../../store/loaders/keyed.ts'
import { OBJECT_SELECTION } from '../../store/loaders/objects.ts'
import type { EventDetails, WorkloadDetails } from './details.ts'

/** The family's own columns as the API shows them, for many objects in one statement. */

/** Without the payload, which can be long. */
export type ShownEvent = Omit<EventDetails, 'payload'>
export const loadEvents = (client: Client, ids: readonly string[]) =>
  loadKeyed<ShownEvent>(
    client,
    `select object_id as key, source, type, qualifiers, subscribed, retry_of as "retryOf", clone_of as "cloneOf"
      from event where object_id = any($1::uuid[])`,
    ids,
  )
export const loadPayloads = (client: Client, ids: readonly string[]) =>
  loadKeyed<Pick<EventDetails, 'payload'>>(
    client,
    'select object_id as key, payload from event where object_id = any($1::uuid[])',
    ids,
  )

/** The worker of each event. */
export const loadWorkers = (client: Client, eventIds: readonly string[]) =>
  loadKeyed<ObjectRow>(
    client,
    `select o.parent_id as key, ${OBJECT_SELECTION} from object o where o.parent_id = any($1::uuid[]) and o.kind = 'WORKER'`,
    eventIds,
  )

export type ShownWorkload = Omit<WorkloadDetails, 'projectId' | 'pool' | 'state'>
export const loadWorkloads = (client: Client, ids: readonly string[]) =>
  loadKeyed<ShownWorkload>(
    client,
    `select object_id as key, runtime, uses_workspace as "usesWorkspace", timeout_ms as "timeoutMs",
        inherited_from as "inheritedFrom", started_at as "startedAt", ended_at as "endedAt", exit_code as "exitCode",
        signal, remove_at as "removeAt", removed_at as "removedAt"
      from workload where object_id = any($1::uuid[])`,
    ids,
  )

/** For the clocks of workloads: when they were handed out, and how long they may take. */
export interface ShownClock {
  readonly pickedUpAt: Date | null
  readonly triggeredAt: Date
  readonly progressingMs: number | null
}
export const loadClocks = (client: Client, ids: readonly string[]) =>
  loadKeyed<ShownClock>(
    client,
    `select object_id as key, picked_up_at as "pickedUpAt", triggered_at as "triggeredAt",
        progressing_ms as "progressingMs"
      from work where object_id = any($1::uuid[]) and action = 'START' and state < 2`,
    ids,
  )
