import { servedBy } from '../../../core/claimant.ts'
import { WORK_STATE, type WorkState } from '../../../core/tree.ts'
import type { Client } from '../../../store/client.ts'
import { array, json, nullable, smallintOf, text, timestamptz, uuid } from '../../../store/column-types.ts'
import { withPoll } from '../../../store/gate-polls.ts'
import { loadAgentsOf } from '../../../store/loaders/agents.ts'
import { statement } from '../../../store/statement.ts'
import * as table from '../../../store/tables.ts'
import { agentWork } from '../../../store/views.ts'
import type { StartGate } from '../../start-gate.ts'
import type { BlockerInputs, LockWait, Waiting } from '../rules/blockers.ts'
import type { JobRetry } from '../rules/details.ts'
import { blockersOfLocks } from './lock-queries.ts'

/** Jobs that are read for one task. */
const MOST_JOBS = 10

/** The job `g` waits at its gate, if it is PENDING. */
export const AT_GATE = `g.gate ->> 'since' is not null and g.gate -> 'isOpen' is null`

// A task waits for what its jobs wait for: the first ones that wait for a decision, a lock or a runner are read with it.
const WAITING = statement({
  text: `with asked as (
    select unnest($1::uuid[]) as id
  ), read as (
    select id from asked
    union select j.id from asked a cross join lateral (
      select c.id from object c left join agent_work k on k.object_id = c.id
      where c.parent_id = a.id and c.kind = 'GADGET_JOB' and (c.phase in ('WAITING', 'UNDO_FAILED') or c.phase = 'PENDING' and k.offer_after is not null or k.state = ${WORK_STATE.OFFERED} or k.lease_until <= $2
        or c.phase = 'PENDING' and exists (select from gadget_job g where g.object_id = c.id and ${AT_GATE}))
      order by c.phase <> 'UNDO_FAILED', c.ordinal limit ${MOST_JOBS}
    ) j
  )
  select o.id, o.kind, o.parent_id as "parentId", o.name, o.phase, o.project_id as "projectId", t.phase as "taskPhase", y.open, w.type, w.state as "workState",
    case when w.abort_requested_at is null then w.lease_until end as "leaseUntil", g.retry, case when o.phase = 'PENDING' and ${AT_GATE} then ${withPoll('g.gate', 'g.object_id')} end as gate,
    case when g.retry is not null then (select s.error ->> 'message' from object_status s where s.object_id = o.id) end as problem,
    array(select json_build_object('id', d.id, 'name', d.name, 'phase', d.phase) from edge e join object d on d.id = e.to_id
      where e.from_id = o.id and d.phase not in ('DONE', 'SKIPPED') order by d.ordinal limit 10) as "dependsOn"
  from object o left join object t on t.id = o.parent_id left join tally y on y.object_id = o.id
  left join agent_work w on w.object_id = o.id left join gadget_job g on g.object_id = o.id where o.id in (select id from read) order by o.ordinal`,
  params: [array(uuid), timestamptz],
  row: {
    id: table.object.id,
    kind: table.object.kind,
    parentId: table.object.parentId,
    name: table.object.name,
    phase: table.object.phase,
    projectId: table.object.projectId,
    taskPhase: nullable(table.object.phase),
    open: nullable(table.tally.open),
    type: nullable(agentWork.type),
    workState: nullable(smallintOf<WorkState>()),
    leaseUntil: agentWork.leaseUntil,
    retry: nullable(json<JobRetry>()),
    gate: nullable(json<StartGate>()),
    problem: nullable(text),
    dependsOn: array(json<Waiting['dependsOn'][number]>('json')),
  },
})

const UNDECIDED = statement({
  text: `select id from object where id = any($1::uuid[]) and phase = 'UNDO_FAILED'`,
  params: [array(uuid)],
  row: { id: table.object.id },
})

/** Runs at most four statements, whatever the number of objects. */
export async function queryBlockerInputs(
  client: Client,
  ids: readonly string[],
  agentsSince: Date,
  now: Date,
): Promise<BlockerInputs> {
  const { rows } = await WAITING.query(client, [ids, now])
  const waiting = rows.filter(({ phase }) => phase === 'WAITING').map(({ id }) => id)
  const types = [...new Set(rows.flatMap(({ type }) => type ?? []))]
  const [locks, agents] = await Promise.all([
    waiting.length > 0 ? blockersOfLocks(client, waiting) : new Map<string, readonly LockWait[]>(),
    types.length > 0 ? loadAgentsOf(client, types, agentsSince) : [],
  ])
  const before = [
    ...rows.flatMap(({ dependsOn }) => dependsOn.map(({ id }) => id)),
    ...[...locks.values()].flat().flatMap(({ ahead }) => ahead.map(({ objectId }) => objectId)),
  ]
  const undecided = before.length > 0 ? (await UNDECIDED.query(client, [before])).rows : []
  return {
    now,
    objects: new Map(rows.map((row) => [row.id, row])),
    jobsOf: Map.groupBy(rows, ({ parentId }) => parentId),
    locks,
    undecided: new Set(undecided.map(({ id }) => id)),
    isServed: servedBy(agents),
  }
}
