import { json } from '../../../store/column-types.ts'
import { detailsTable } from '../../../store/columns.ts'
import { keyed, keyedDetails, keysOf } from '../../../store/loaders/keyed.ts'
import { OBJECT_SELECTION } from '../../../store/loaders/objects.ts'
import * as table from '../../../store/tables.ts'
import { agentWork } from '../../../store/views.ts'
import type { DetailsTable } from '../../family.ts'
import { type EventDetails, NEW_EVENT, NEW_WORKLOAD } from '../rules/details.ts'

/** The family's columns, as the engine reads and writes them. */
export const detailsTables: readonly DetailsTable[] = [
  detailsTable('event', ['EVENT'], table.event, NEW_EVENT),
  detailsTable('workload', ['WORKER', 'JOB'], table.workload, NEW_WORKLOAD),
]

/** Loads the family's columns for the API, for many objects in one statement. */

const event = { ...table.event, qualifiers: json<EventDetails['qualifiers']>() }
export const loadEvents = keyedDetails('event', event, keysOf(NEW_EVENT, 'payload'))
export const loadWholeEvents = keyedDetails('event', event, keysOf(NEW_EVENT))
export const loadPayloads = keyedDetails('event', table.event, ['payload'])

/** The worker of each event. */
export const loadWorkers = keyed(
  `select o.parent_id as key, ${OBJECT_SELECTION} from object o where o.parent_id = any($1::uuid[]) and o.kind = 'WORKER'`,
  table.object,
)

export const loadWorkloads = keyedDetails('workload', table.workload, keysOf(NEW_WORKLOAD))

/** For the timeouts of workloads: when they were claimed, and how long they may take. */
export const loadClocks = keyed(
  `select object_id as key, picked_up_at as "pickedUpAt", triggered_at as "triggeredAt",
        progressing_ms as "progressingMs"
      from agent_work where object_id = any($1::uuid[]) and action = 'START' and is_open`,
  { pickedUpAt: agentWork.pickedUpAt, triggeredAt: agentWork.triggeredAt, progressingMs: agentWork.progressingMs },
)
