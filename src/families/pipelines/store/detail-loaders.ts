import { json } from '../../../store/column-types.ts'
import { keyed } from '../../../store/loaders/keyed.ts'
import { OBJECT_SELECTION } from '../../../store/loaders/objects.ts'
import * as table from '../../../store/tables.ts'
import type { EventDetails } from '../rules/details.ts'

/** Loads the family's columns for the API, for many objects in one statement. */

/** Without the payload, which can be long. */
export const loadEvents = keyed(
  `select object_id as key, source, type, qualifiers, subscribed, retry_of as "retryOf", clone_of as "cloneOf"
      from event where object_id = any($1::uuid[])`,
  {
    source: table.event.source,
    type: table.event.type,
    qualifiers: json<EventDetails['qualifiers']>(),
    subscribed: table.event.subscribed,
    retryOf: table.event.retryOf,
    cloneOf: table.event.cloneOf,
  },
)
export const loadPayloads = keyed('select object_id as key, payload from event where object_id = any($1::uuid[])', {
  payload: table.event.payload,
})

/** The worker of each event. */
export const loadWorkers = keyed(
  `select o.parent_id as key, ${OBJECT_SELECTION} from object o where o.parent_id = any($1::uuid[]) and o.kind = 'WORKER'`,
  table.object,
)

export const loadWorkloads = keyed(
  `select object_id as key, runtime, uses_workspace as "usesWorkspace", timeout_ms as "timeoutMs",
        inherited_from as "inheritedFrom", started_at as "startedAt", ended_at as "endedAt", exit_code as "exitCode",
        signal, remove_at as "removeAt", removed_at as "removedAt"
      from workload where object_id = any($1::uuid[])`,
  {
    runtime: table.workload.runtime,
    usesWorkspace: table.workload.usesWorkspace,
    timeoutMs: table.workload.timeoutMs,
    inheritedFrom: table.workload.inheritedFrom,
    startedAt: table.workload.startedAt,
    endedAt: table.workload.endedAt,
    exitCode: table.workload.exitCode,
    signal: table.workload.signal,
    removeAt: table.workload.removeAt,
    removedAt: table.workload.removedAt,
  },
)

/** For the timeouts of workloads: when they were claimed, and how long they may take. */
export const loadClocks = keyed(
  `select object_id as key, picked_up_at as "pickedUpAt", triggered_at as "triggeredAt",
        progressing_ms as "progressingMs"
      from work where object_id = any($1::uuid[]) and action = 'START' and state < 2`,
  { pickedUpAt: table.work.pickedUpAt, triggeredAt: table.work.triggeredAt, progressingMs: table.work.progressingMs },
)
