import type { ObjectRow } from '../../core/tree.ts'
import type { Client } from '../client.ts'
import { array, bigint, integer, nullable, uuid } from '../column-types.ts'
import { statement } from '../statement.ts'
import * as table from '../tables.ts'
import { OBJECT_SELECTION } from './objects.ts'
import { byKey, direction, type Window } from './window.ts'

/** Pages of objects that stand in some relation to many others at once. All are ordered by (ordinal, id). */

export type SiblingPosition = readonly [ordinal: number, id: string]
export type Relation = 'children' | 'dependsOn' | 'dependents'

/**
 * `k.id` is the object whose relations are wanted. Roots have no edges: they depend on one another by what they import
 * from their project's scope.
 */
const RELATED: Readonly<Record<Relation, string>> = {
  children: 'select c.id from object c where c.parent_id = k.id',
  dependsOn: `select e.to_id as id from edge e where e.from_id = k.id
    union select x.exporter_id from root_import i join root_export x on x.project_id = i.project_id and x.name = i.name
      where i.importer_id = k.id and x.exporter_id <> k.id`,
  dependents: `select e.from_id as id from edge e where e.to_id = k.id
    union select i.importer_id from root_export x join root_import i on i.project_id = x.project_id and i.name = x.name
      where x.exporter_id = k.id and i.importer_id <> k.id`,
}
// Children are read straight from their index, which has their order.
const source = (relation: Relation): string =>
  relation === 'children'
    ? 'object o where o.parent_id = k.id'
    : `(${RELATED[relation]}) r join object o on o.id = r.id where true`

const pages = (relation: Relation, order: 'asc' | 'desc') =>
  statement({
    text: `select k.id as key, p.* from unnest($1::uuid[]) k(id) cross join lateral (
      select ${OBJECT_SELECTION} from ${source(relation)}
        and ($2::int is null or (o.ordinal, o.id) > ($2::int, $3::uuid))
        and ($4::int is null or (o.ordinal, o.id) < ($4::int, $5::uuid))
      order by o.ordinal ${order}, o.id ${order} limit $6
    ) p order by k.id, p.ordinal, p.id`,
    params: [array(uuid), nullable(integer), nullable(uuid), nullable(integer), nullable(uuid), bigint],
    row: { key: uuid, ...table.object },
  })
const counts = (relation: Relation) =>
  statement({
    text: `select k.id as key, (select count(*)::int from (${RELATED[relation]}) r) as count from unnest($1::uuid[]) k(id)`,
    params: [array(uuid)],
    row: { key: uuid, count: integer },
  })
const statementsOf = (relation: Relation) => ({
  asc: pages(relation, 'asc'),
  desc: pages(relation, 'desc'),
  count: counts(relation),
})
const STATEMENTS = {
  children: statementsOf('children'),
  dependsOn: statementsOf('dependsOn'),
  dependents: statementsOf('dependents'),
}

/** One statement for all of them. */
export async function loadRelated(
  client: Client,
  relation: Relation,
  ids: readonly string[],
  window: Window<SiblingPosition>,
): Promise<ReadonlyMap<string, readonly ObjectRow[]>> {
  const [afterOrdinal = null, afterId = null] = window.after ?? []
  const [beforeOrdinal = null, beforeId = null] = window.before ?? []
  const page = STATEMENTS[relation][direction(window)]
  const { rows } = await page.query(client, [ids, afterOrdinal, afterId, beforeOrdinal, beforeId, window.limit])
  return byKey(ids, rows, ({ key: _, ...row }) => row)
}

export async function countRelated(
  client: Client,
  relation: Relation,
  ids: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const { rows } = await STATEMENTS[relation].count.query(client, [ids])
  return new Map(rows.map(({ key, count }) => [key, count]))
}
