import type { ObjectKind, Phase } from '../../../core/vocabulary.ts'
import type { Client } from '../../../store/client.ts'
import { array, boolean, integer, json, nullable, uuid } from '../../../store/column-types.ts'
import { detailsTable } from '../../../store/columns.ts'
import { keyed, keyedDetails, keysOf } from '../../../store/loaders/keyed.ts'
import { OBJECT_SELECTION } from '../../../store/loaders/objects.ts'
import { statement } from '../../../store/statement.ts'
import * as table from '../../../store/tables.ts'
import { agentWork } from '../../../store/views.ts'
import type { DetailsTable } from '../../family.ts'
import { NEW_DEPLOY_ITEM, NEW_INSTALLATION } from '../rules/details.ts'
import type { PendingOrigin } from '../rules/origin.ts'
import { COUNTED_ITEMS } from '../rules/reconcile-effect.ts'

const EXECUTION: ObjectKind = 'EXECUTION'
const ITEM: ObjectKind = 'DEPLOY_ITEM'
const PENDING: Phase = 'PENDING'

/** The family's columns, as the engine reads and writes them. */
export const detailsTables: readonly DetailsTable[] = [
  detailsTable('installation', ['INSTALLATION'], table.installation, NEW_INSTALLATION),
  detailsTable('deploy_item', ['DEPLOY_ITEM'], table.deployItem, NEW_DEPLOY_ITEM),
]

/** Loads the family's columns for the API, for many objects in one statement. */

export const loadInstallations = keyedDetails('installation', table.installation, keysOf(NEW_INSTALLATION))

/** The present job, and whether another one is pending. */
export const loadJobs = keyed(
  `select o.id as key, o.job_id as "jobId", i.next_deletion or i.next_mode is not null as remembered
      from object o join installation i on i.object_id = o.id where o.id = any($1::uuid[])`,
  { jobId: table.object.jobId, remembered: boolean },
)

/** Pending requests of installations, and of items by their work. */
export const loadRequested = keyed(
  `select o.id as key, o.parent_id as "parentId", o.phase, o.job_id as "jobId", o.finished_job_id as "finishedJobId",
      exists (select from root_pause p where p.root_id = o.id) as "isPaused",
      coalesce(i.ignored, false) as ignored, i.next_mode as "nextMode", coalesce(i.next_deletion, false) as "nextDeletion",
      i.next_origin as "nextOrigin", coalesce(i.force_deletion, false) as "forceDeletion",
      coalesce(i.without_uninstall, false) as "withoutUninstall", i.cancel_requested_at as "cancelRequestedAt",
      i.cancel_by as "cancelBy", w.abort_requested_at as "abortRequestedAt", w.abort_code as "abortCode", r.cancel_by as "stoppedBy"
    from object o left join installation i on i.object_id = o.id left join installation r on r.object_id = o.root_id
    left join agent_work w on w.object_id = o.id and w.is_claimed
    where o.id = any($1::uuid[])`,
  {
    parentId: table.object.parentId,
    phase: table.object.phase,
    jobId: table.object.jobId,
    finishedJobId: table.object.finishedJobId,
    isPaused: boolean,
    ignored: boolean,
    nextMode: table.installation.nextMode,
    nextDeletion: boolean,
    nextOrigin: nullable(json<PendingOrigin>()),
    forceDeletion: boolean,
    withoutUninstall: boolean,
    cancelRequestedAt: table.installation.cancelRequestedAt,
    cancelBy: table.installation.cancelBy,
    abortRequestedAt: agentWork.abortRequestedAt,
    abortCode: agentWork.abortCode,
    stoppedBy: table.installation.cancelBy,
  },
)

/**
 * An object without a job to which the job of its parent does not come any more: that one has ended, or starts nothing more
 * after a failure or a cancel. `offset 0` has the parent looked up for those that wait alone: the planner, which takes them for most objects, would
 * read all parents for them.
 */
export const LEFT_OUT = `o.phase = '${PENDING}' and exists (
  select from object p left join tally t on t.object_id = p.id left join installation r on r.object_id = p.root_id
    where p.id = o.parent_id and p.job_id is not null
      and (p.job_id = p.finished_job_id or p.kind = '${EXECUTION}' and (t.failed > 0 or r.cancel_requested_at is not null)) offset 0)`

export const loadLeftOut = keyed(
  `select o.id as key, ${LEFT_OUT} as "leftOut" from object o where o.id = any($1::uuid[])`,
  { leftOut: boolean },
)

export const loadItems = keyedDetails('deploy_item', table.deployItem, keysOf(NEW_DEPLOY_ITEM))

/** The deploy items of whole trees, by their roots, of which so many and one more are counted. */
export const loadItemTotals = keyed(
  `select r.id as key, i.total, i.unsuccessful from unnest($1::uuid[]) r(id) cross join lateral (
      select count(*)::int as total, count(*) filter (where phase <> 'SUCCEEDED')::int as unsuccessful from (
        select phase from object where root_id = r.id and kind = '${ITEM}' limit ${COUNTED_ITEMS + 1}
      ) counted
    ) i`,
  { total: integer, unsuccessful: integer },
)

/** The execution of each installation that has one. */
export const loadExecutions = keyed(
  `select o.parent_id as key, ${OBJECT_SELECTION} from object o where o.parent_id = any($1::uuid[]) and o.kind = '${EXECUTION}'`,
  table.object,
)

/** Number of items of an execution that agree in everything that determines their class. */
export interface ItemCount {
  readonly key: string
  readonly phase: Phase
  /** The items have the execution's job. */
  readonly triggered: boolean
  /** The items have ended their own last job. */
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
