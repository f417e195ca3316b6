import type { Client } from '../../../store/client.ts'
import { array, bigint, nullable, text, timestamptz, uuid } from '../../../store/column-types.ts'
import { AGENT_ROW, AGENT_SELECTION, type AgentRow } from '../../../store/loaders/agents.ts'
import { byKey, direction, type Window } from '../../../store/loaders/window.ts'
import { statement } from '../../../store/statement.ts'
import * as table from '../../../store/tables.ts'

/** Targets are used by deploy items, by name, and served by deployers. */

const FIND_ITEM = statement({
  name: 'find-item-of-target',
  text: `select o.id, o.name, r.name as root from deploy_item d
      cross join lateral (select * from object where id = d.object_id and project_id = $1 offset 0) o
      join object r on r.id = o.root_id where d.target = $2 limit 1`,
  params: [uuid, text],
  row: { id: table.object.id, name: table.object.name, root: table.object.name },
})

/** Null: there is none. */
export async function findItemOf(
  client: Client,
  projectId: string,
  target: string,
): Promise<{ readonly id: string; readonly name: string; readonly root: string } | null> {
  const { rows } = await FIND_ITEM.query(client, [projectId, target])
  return rows[0] ?? null
}

/** A root with items at a target. */
export interface TargetUse {
  readonly rootId: string
  readonly itemCount: number
}

const USES = `from deploy_item d
        cross join lateral (select root_id, project_id from object where id = d.object_id offset 0) o
        where d.target = t.name and o.project_id = t.project_id`
const uses = (order: 'asc' | 'desc') =>
  statement({
    text: `select t.id as key, r.* from target t cross join lateral (
          select o.root_id as "rootId", count(*) as "itemCount" ${USES}
            and ($2::uuid is null or o.root_id > $2) and ($3::uuid is null or o.root_id < $3)
          group by o.root_id order by o.root_id ${order} limit $4) r
        where t.id = any($1::uuid[]) order by r."rootId"`,
    params: [array(uuid), nullable(uuid), nullable(uuid), bigint],
    row: { key: uuid, rootId: uuid, itemCount: bigint },
  })
const PAGE = { asc: uses('asc'), desc: uses('desc') }

/** A page of each target's roots, by age. */
export async function loadUses(
  client: Client,
  targets: readonly string[],
  window: Window<string>,
): Promise<ReadonlyMap<string, readonly TargetUse[]>> {
  const { after, before, limit } = window
  const { rows } = await PAGE[direction(window)].query(client, [targets, after, before, limit])
  return byKey(targets, rows, ({ key: _, ...use }) => use)
}

const COUNT = statement({
  text: `select t.id, (select count(distinct o.root_id) ${USES}) as count from target t where t.id = any($1::uuid[])`,
  params: [array(uuid)],
  row: { id: uuid, count: bigint },
})
export async function countUses(client: Client, targets: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const { rows } = await COUNT.query(client, [targets])
  return new Map(rows.map(({ id, count }) => [id, count]))
}

/** Agents that have claimed for a target since then, by its name or by a selector, and may work in its project. `takesTarget` is the same rule. */
const SERVING = `from agent a where a.actor = 'DEPLOYER' and a.seen_at >= $2
          and (t.name = any(a.targets) or a.target_selector is not null
            and coalesce(t.type = a.target_selector ->> 'type', true) and t.labels @> (a.target_selector -> 'labels')
            and (jsonb_typeof(a.target_selector -> 'within') <> 'array' or a.target_selector -> 'within' ? t.name))
          and exists (select from principal_grant g where g.principal_id = a.principal_id and g.role = 'AGENT'
            and (g.project_id is null or g.project_id = t.project_id))`
const serving = (order: 'asc' | 'desc') =>
  statement({
    text: `select t.id as key, r.* from target t cross join lateral (
          select ${AGENT_SELECTION} ${SERVING} and ($3::uuid is null or a.id > $3) and ($4::uuid is null or a.id < $4)
          order by a.id ${order} limit $5) r
        where t.id = any($1::uuid[]) order by r.id`,
    params: [array(uuid), timestamptz, nullable(uuid), nullable(uuid), bigint],
    row: { key: uuid, ...AGENT_ROW },
  })
const SERVING_PAGE = { asc: serving('asc'), desc: serving('desc') }

/** A page of each target's connected deployers. */
export async function loadServing(
  client: Client,
  targets: readonly string[],
  window: Window<string>,
  since: Date,
): Promise<ReadonlyMap<string, readonly AgentRow[]>> {
  const { after, before, limit } = window
  const { rows } = await SERVING_PAGE[direction(window)].query(client, [targets, since, after, before, limit])
  return byKey(targets, rows, ({ key: _, ...agent }) => agent)
}

const COUNT_SERVING = statement({
  text: `select t.id, (select count(*) ${SERVING}) as count from target t where t.id = any($1::uuid[])`,
  params: [array(uuid), timestamptz],
  row: { id: uuid, count: bigint },
})
export async function countServing(
  client: Client,
  targets: readonly string[],
  since: Date,
): Promise<ReadonlyMap<string, number>> {
  const { rows } = await COUNT_SERVING.query(client, [targets, since])
  return new Map(rows.map(({ id, count }) => [id, count]))
}
