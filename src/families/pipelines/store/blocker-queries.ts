import { servedBy } from '../../../core/claimant.ts'
import type { Labels } from '../../../core/place.ts'
import type { ObjectRow, WorkState } from '../../../core/tree.ts'
import type { Client } from '../../../store/client.ts'
import {
  array,
  boolean,
  integer,
  json,
  nullable,
  required,
  smallintOf,
  text,
  textOf,
  uuid,
} from '../../../store/column-types.ts'
import { withPoll } from '../../../store/gate-polls.ts'
import { loadHeldUpTickets } from '../../../store/held-up-tickets.ts'
import { loadAgentsOf } from '../../../store/loaders/agents.ts'
import { statement } from '../../../store/statement.ts'
import * as table from '../../../store/tables.ts'
import { agentWork } from '../../../store/views.ts'
import type { StartGate } from '../../start-gate.ts'
import { candidateOf, loadPlacesOf } from '../placement/store/place-queries.ts'
import type { BlockerInputs } from '../rules/blockers.ts'
import type { Pool, WorkloadRetry } from '../rules/details.ts'
import { HOLDS_SLOT } from './slots.ts'

// The blockers of an event are those of its worker.
const WAITING = statement({
  text: `select x.id as key, o.id, w.limits is not null as "isLimited", w.pool, w.state, o.phase, k.type, k.target, k.instance, w.target_labels as "targetLabels", k.state as "workState", w.retry,
    case when w.state = 3 and w.gate -> 'isOpen' is null then ${withPoll('w.gate', 'w.object_id')} end as gate,
    case when w.retry is not null then (select s.error ->> 'message' from object_status s where s.object_id = o.id) end as problem,
    p.name as project, p.id as "projectId", case w.pool when 'WORKER' then p.max_workers else p.max_jobs end as "projectLimit",
    case when w.state = 0 then (select count(*)::integer from workload b
      where b.pool = w.pool and b.project_id = w.project_id and b.state = 0 and b.seq < w.seq) else 0 end as ahead
  from unnest($1::uuid[]) x(id) join object r on r.id = x.id
  join object o on o.id = case r.kind when 'EVENT'
    then (select c.id from object c where c.parent_id = r.id and c.kind = 'WORKER') else r.id end
  join workload w on w.object_id = o.id join project p on p.id = o.project_id
  left join agent_work k on k.object_id = o.id
  where o.phase in ('PENDING', 'STARTING', 'UNKNOWN')`,
  params: [array(uuid)],
  row: {
    ...{ key: uuid, id: table.object.id, isLimited: boolean },
    pool: textOf<Pool>(),
    state: table.workload.state,
    phase: table.object.phase,
    type: nullable(agentWork.type),
    target: agentWork.target,
    instance: agentWork.instance,
    targetLabels: nullable(json<Labels>()),
    workState: nullable(smallintOf<WorkState>()),
    retry: nullable(json<WorkloadRetry>()),
    gate: nullable(json<StartGate>()),
    problem: nullable(text),
    project: table.project.name,
    projectId: table.project.id,
    projectLimit: nullable(integer),
    ahead: integer,
  },
})

const HELD = statement({
  text: `select w.pool, p.name as project, count(*)::integer as held,
    (select case w.pool when 'WORKER' then c.max_workers else c.max_jobs end from capacity c) as "limit"
  from workload w join object o on o.id = w.object_id join project p on p.id = w.project_id
  where w.state = 1 and ${HOLDS_SLOT} group by w.pool, p.name`,
  row: { pool: textOf<Pool>(), project: table.project.name, held: integer, limit: integer },
})
const LIMITS = statement({
  text: 'select max_workers as "WORKER", max_jobs as "JOB" from capacity',
  row: { WORKER: table.capacity.maxWorkers, JOB: table.capacity.maxJobs },
})

const GATES_BELOW = statement({
  text: `select o.root_id as key, o.id, ${withPoll('w.gate', 'w.object_id')} as gate from object o join workload w on w.object_id = o.id
    where o.root_id = any($1::uuid[]) and o.kind = 'JOB' and o.phase = 'PENDING' and w.gate is not null and w.gate -> 'isOpen' is null
    order by o.id`,
  params: [array(uuid)],
  row: { key: table.object.rootId, id: table.object.id, gate: required(json<StartGate>()) },
})

/** Runs three statements, one for events, two for agents and places, and one for limits, whatever the number of objects. */
export async function queryBlockerInputs(
  client: Client,
  rows: readonly Pick<ObjectRow, 'id' | 'kind'>[],
  agentsSince: Date,
  now: Date,
): Promise<BlockerInputs> {
  const events = rows.flatMap(({ id, kind }) => (kind === 'EVENT' ? id : []))
  const ids = rows.map(({ id }) => id)
  const [waiting, gates, held, limits] = await Promise.all([
    WAITING.query(client, [ids]),
    events.length > 0 ? GATES_BELOW.query(client, [events]) : { rows: [] },
    HELD.query(client, []),
    LIMITS.query(client, []),
  ])
  const types = [...new Set(waiting.rows.flatMap(({ type }) => type ?? []))]
  const [agents, places] =
    types.length > 0
      ? await Promise.all([loadAgentsOf(client, types, agentsSince), loadPlacesOf(client, types)])
      : [[], []]
  const tickets = await loadHeldUpTickets(
    client,
    waiting.rows.flatMap(({ id, isLimited, phase }) => (isLimited && phase === 'PENDING' ? id : [])),
    now,
  )
  return {
    now,
    gatesBelow: Map.groupBy(gates.rows, ({ key }) => key),
    waiting: new Map(waiting.rows.map((row) => [row.key, { ...row, tickets: tickets.get(row.id) ?? [] }])),
    held: held.rows,
    limits: limits.rows[0] ?? { WORKER: 0, JOB: 0 },
    places: places.map((place) => candidateOf(place, now)),
    isServed: servedBy(agents),
    isServedUnregistered: (work) =>
      servedBy(
        agents.filter(({ targets }) => !places.some(({ type, name }) => type === work.type && targets?.includes(name))),
      )(work),
  }
}
