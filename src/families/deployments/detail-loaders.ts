import type { ObjectRow } from '../../core/tree.ts'
import type { ObjectKind, Phase, ReconcileMode } from '../../core/vocabulary.ts'
import type { Client } from '../../store/client.ts'
import { array, boolean, integer, uuid } from '../../store/column-types.ts'
import { loadKeyed } from '../../store/loaders/keyed.ts'
import { OBJECT_SELECTION } from '../../store/loaders/objects.ts'
import { statement } from '../../store/statement.ts'
import * as table from '../../store/tables.ts'

/** The family's own columns as the API shows them, for many objects in one statement. */

export interface ShownInstallation {
  readonly ignored: boolean
  readonly mode: ReconcileMode
  readonly nextMode: ReconcileMode | null
  readonly nextDeletion: boolean
  readonly cancelRequestedAt: Date | null
  readonly cancelBy: string | null
  readonly imports: unknown
  readonly exports: unknown
}
export interface ShownItem {
  readonly type: string
  readonly target: string | null
  readonly exports: unknown
}

export const loadInstallations = (client: Client, ids: readonly string[]) =>
  loadKeyed<ShownInstallation>(
    client,
    `select object_id as key, ignored, mode, next_mode as "nextMode", next_deletion as "nextDeletion",
        cancel_requested_at as "cancelRequestedAt", cancel_by as "cancelBy", imports, exports
      from installation where object_id = any($1::uuid[])`,
    ids,
  )

/** Its job of now, and whether another one is remembered. */
export const loadJobs = (client: Client, ids: readonly string[]) =>
  loadKeyed<{ readonly jobId: string | null; readonly remembered: boolean }>(
    client,
    `select o.id as key, o.job_id as "jobId", i.next_deletion or i.next_mode is not null as remembered
      from object o join installation i on i.object_id = o.id where o.id = any($1::uuid[])`,
    ids,
  )

export const loadItems = (client: Client, ids: readonly string[]) =>
  loadKeyed<ShownItem>(
    client,
    'select object_id as key, type, target, exports from deploy_item where object_id = any($1::uuid[])',
    ids,
  )

const EXECUTION: ObjectKind = 'EXECUTION'
/** The execution of each installation that has one. */
export const loadExecutions = (client: Client, installationIds: readonly string[]) =>
  loadKeyed<ObjectRow>(
    client,
    `select o.parent_id as key, ${OBJECT_SELECTION} from object o where o.parent_id = any($1::uuid[]) and o.kind = '${EXECUTION}'`,
    installationIds,
  )

/** How many items of an execution are alike in what their class depends on. */
export interface ItemCount {
  readonly key: string
  readonly phase: Phase
  /** It has got the execution's job. */
  readonly triggered: boolean
  /** It has ended its own last job. */
  readonly finished: boolean
  readonly waits: boolean
  readonly count: number
}

const COUNT_ITEMS = statement({
  text: `select e.id as key, i.phase, e.job_id is not null and i.job_id is not distinct from e.job_id as triggered,
        i.job_id is not distinct from i.finished_job_id as finished, i.waiting_for > 0 as waits, count(*)::int as count
      from object e join object i on i.parent_id = e.id where e.id = any($1::uuid[]) group by 1, 2, 3, 4, 5`,
  params: [array(uuid)],
  row: {
    key: table.object.id,
    phase: table.object.phase,
    triggered: boolean,
    finished: boolean,
    waits: boolean,
    count: integer,
  },
})

export async function countItems(
  client: Client,
  executionIds: readonly string[],
): Promise<ReadonlyMap<string, readonly ItemCount[]>> {
  const { rows } = await COUNT_ITEMS.query(client, [executionIds])
  return Map.groupBy(rows, ({ key }) => key)
}
