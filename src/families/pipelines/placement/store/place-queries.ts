import type { Place } from '../../../../core/place.ts'
import type { Client } from '../../../../store/client.ts'
import { array, bigint, integer, json, nullable, text, timestamptz, uuid } from '../../../../store/column-types.ts'
import { projectsOfAgent } from '../../../../store/loaders/agents.ts'
import { direction, inOrder, type Window } from '../../../../store/loaders/window.ts'
import { statement } from '../../../../store/statement.ts'
import * as table from '../../../../store/tables.ts'
import type { Answer } from '../../../family.ts'
import { HOLDS_SLOT } from '../../store/slots.ts'
import { isLost, type PlaceFacts } from '../rules/place-state.ts'
import { type CandidatePlace, placementProblem } from '../rules/placement-problem.ts'

/** Places as people see them. */

export interface PlaceRow extends PlaceFacts {
  readonly id: string
  readonly type: string
  readonly name: string
  /** Name of the principal whose runtime it is. */
  readonly agentName: string
  /** Ids of the projects for which it may work; null: all. */
  readonly projectIds: readonly string[] | null
  readonly labels: Place['labels']
  readonly registeredAt: Date
  readonly drainedBy: string | null
  readonly drainReason: string | null
}

const SELECT = `select p.id, p.type, p.name, r.name as "agentName",
    ${projectsOfAgent('p.principal_id')} as "projectIds", p.labels, p.capacity, p.registered_at as "registeredAt",
    p.drained_at as "drainedAt", p.drained_by as "drainedBy", p.drain_reason as "drainReason", a.seen_at as "seenAt",
    h.workers, h.jobs, h.lease_until as "leaseUntil", h.starting_since as "startingSince",
    (select min(k.triggered_at) from agent_work k
      where k.type = p.type and k.state = 0 and k.offer_after is null and k.action = 'START' and k.picked_up_at is null
        and (k.target = p.name or k.target is null and p.drained_at is null
          and (k.target_labels is null or k.target_labels <@ p.labels))) as "waitingSince"
  from place p join principal r on r.id = p.principal_id
  left join agent a on a.principal_id = p.principal_id and a.instance = p.name
  cross join lateral (
    select count(*) filter (where w.pool = 'WORKER')::integer as workers, count(*) filter (where w.pool = 'JOB')::integer as jobs,
      max(k.lease_until) as lease_until, min(k.picked_up_at) filter (where o.phase = 'STARTING') as starting_since
    from (select object_id, pool from workload where place_id = p.id and state = 1 offset 0) w
    cross join lateral (select phase from object where id = w.object_id offset 0) o
    cross join lateral (select lease_until, picked_up_at from agent_work where object_id = w.object_id offset 0) k
    where ${HOLDS_SLOT}
  ) h`
const ROW = {
  ...{ id: table.place.id, type: table.place.type, name: table.place.name, agentName: table.principal.name },
  projectIds: nullable(array(uuid)),
  ...{ labels: json<Place['labels']>(), capacity: table.place.capacity, registeredAt: table.place.registeredAt },
  ...{ drainedAt: table.place.drainedAt, drainedBy: table.place.drainedBy, drainReason: table.place.drainReason },
  ...{ seenAt: nullable(timestamptz), workers: integer, jobs: integer, leaseUntil: nullable(timestamptz) },
  ...{ startingSince: nullable(timestamptz), waitingSince: nullable(timestamptz) },
}
type Row = Omit<PlaceRow, 'running'> & { readonly workers: number; readonly jobs: number }
const placeOf = ({ workers, jobs, ...row }: Row): PlaceRow => ({ ...row, running: { WORKER: workers, JOB: jobs } })

/** Places whose principal has a grant in one of these projects, or in all; null: all places. */
const isVisible = (projects: string) => `(${projects}::uuid[] is null or exists (
    select from principal_grant g
    where g.principal_id = p.principal_id and (g.project_id is null or g.project_id = any(${projects}::uuid[]))))`

const list = (order: 'asc' | 'desc') =>
  statement({
    text: `${SELECT} where ($1::uuid is null or p.id > $1) and ($2::uuid is null or p.id < $2) and ${isVisible('$4')}
      order by p.id ${order} limit $3`,
    params: [nullable(uuid), nullable(uuid), bigint, nullable(array(uuid))],
    row: ROW,
  })
const LIST = { asc: list('asc'), desc: list('desc') }

/** A page of those whose runtimes work for these projects, in the order in which they were registered. */
export async function listPlaces(
  client: Client,
  projects: readonly string[] | null,
  window: Window<string>,
): Promise<readonly PlaceRow[]> {
  const { after, before, limit } = window
  const { rows } = await LIST[direction(window)].query(client, [after, before, limit, projects])
  return inOrder(rows.map(placeOf), window)
}

const COUNT = statement({
  text: `select count(*)::integer as count from place p where ${isVisible('$1')}`,
  params: [nullable(array(uuid))],
  row: { count: integer },
})
export async function countPlaces(client: Client, projects: readonly string[] | null): Promise<number> {
  const { rows } = await COUNT.query(client, [projects])
  return rows[0]?.count ?? 0
}

const LOAD = statement({
  text: `${SELECT} where p.id = any($1::uuid[]) and ${isVisible('$2')} order by p.id`,
  params: [array(uuid), nullable(array(uuid))],
  row: ROW,
})
export async function loadPlaces(
  client: Client,
  ids: readonly string[],
  projects: readonly string[] | null = null,
): Promise<readonly PlaceRow[]> {
  const { rows } = await LOAD.query(client, [ids, projects])
  return rows.map(placeOf)
}

const LOAD_OF_TYPES = statement({
  text: `${SELECT} where p.type = any($1::text[]) order by p.id`,
  params: [array(text)],
  row: ROW,
})
/** All places of these types. */
export async function loadPlacesOf(client: Client, types: readonly string[]): Promise<readonly PlaceRow[]> {
  const { rows } = await LOAD_OF_TYPES.query(client, [types])
  return rows.map(placeOf)
}

export const candidateOf = (place: PlaceRow, now: Date): CandidatePlace => ({
  ...place,
  isDrained: place.drainedAt !== null,
  isLost: isLost(place, now),
})

/** Why no place takes these workloads now: an answer for their rules. */
export const findPlacementProblems: Answer<'unplaced'> = async (client, _root, workloads) => {
  const places = await loadPlacesOf(client, [...new Set(workloads.map(({ type }) => type))])
  return workloads.map(({ now, ...workload }) => {
    const candidates = places.map((place) => candidateOf(place, new Date(now)))
    return placementProblem(workload, candidates)
  })
}
