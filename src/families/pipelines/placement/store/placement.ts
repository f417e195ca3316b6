import { type Place, UNREGISTERED } from '../../../../core/place.ts'
import type { Client } from '../../../../store/client.ts'
import { array, boolean, integer, json, text, textOf, uuid } from '../../../../store/column-types.ts'
import { lockSlots } from '../../../../store/limit-tickets.ts'
import { statement } from '../../../../store/statement.ts'
import * as table from '../../../../store/tables.ts'
import type { PlaceKey, Placement } from '../../../family.ts'
import type { Pool } from '../../rules/details.ts'
import { HOLDS_SLOT } from '../../store/slots.ts'

/**
 * Places of runtimes as claims see them. The use of a place is counted from the workloads, under the same lock as
 * slots, so that claims of several replicas never exceed its capacity, and none of it can leak.
 */

const find = (name: string, suffix: string) =>
  statement({
    name,
    text: `select p.id, p.principal_id as "principalId", p.type, p.name as instance, p.labels, p.capacity,
        p.drained_at is not null as "isDrained"
      from unnest($1::uuid[], $2::text[], $3::text[]) k(principal_id, type, name)
      cross join lateral (
        select * from place where principal_id = k.principal_id and type = k.type and name = k.name ${suffix}
      ) p`,
    params: [array(uuid), array(text), array(text)],
    row: {
      ...{
        id: table.place.id,
        principalId: table.place.principalId,
        type: table.place.type,
        instance: table.place.name,
      },
      ...{ labels: json<Place['labels']>(), capacity: table.place.capacity, isDrained: boolean },
    },
  })
const FIND = find('find-places', 'offset 0')
/** Drains and registrations write the row, so they wait for claims that are under way. */
const FIND_LOCKED = find('find-places-locked', 'for share')

const COUNT = statement({
  name: 'count-at-places',
  text: `select p.id, w.pool, count(*)::integer as held from unnest($1::uuid[]) p(id)
      cross join lateral (select object_id, pool from workload where place_id = p.id and state = 1 offset 0) w
      cross join lateral (select phase from object where id = w.object_id offset 0) o
      where ${HOLDS_SLOT} group by p.id, w.pool`,
  params: [array(uuid)],
  row: { id: uuid, pool: textOf<Pool>(), held: integer },
})

/** Counts places with a capacity; others need no count. */
async function countRunning(client: Client, ids: readonly string[]): Promise<ReadonlyMap<string, Place['running']>> {
  if (ids.length === 0) return new Map()
  const { rows } = await COUNT.query(client, [ids])
  return new Map(
    ids.map((id) => [id, Object.fromEntries(rows.filter((r) => r.id === id).map((r) => [r.pool, r.held]))]),
  )
}

async function placesOf(client: Client, keys: readonly PlaceKey[], isLocked: boolean): Promise<readonly Place[]> {
  const { rows } = await (isLocked ? FIND_LOCKED : FIND).query(client, [
    keys.map(({ principalId }) => principalId),
    keys.map(({ type }) => type),
    keys.map(({ instance }) => instance),
  ])
  const limited = [...new Set(rows.flatMap(({ id, capacity }) => (capacity === null ? [] : [id])))]
  // Each statement sees what was committed before it began, so the count comes after the lock.
  if (isLocked && limited.length > 0) await lockSlots(client)
  const running = await countRunning(client, limited)
  return keys.map((key) => {
    const row = rows.find(
      (r) => r.principalId === key.principalId && r.type === key.type && r.instance === key.instance,
    )
    if (!row) return UNREGISTERED
    const { id, labels, isDrained, capacity } = row
    return { id, labels, isDrained, capacity, running: running.get(id) ?? {} }
  })
}

/** In the order in which a drain locks several places. */
const byName = (a: PlaceKey, b: PlaceKey): number =>
  compare(a.principalId, b.principalId) || compare(a.type, b.type) || compare(a.instance, b.instance)
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

export const placement: Placement = {
  actor: 'RUNTIME',
  isStart: ({ action, pickedUpAt }) => action === 'START' && pickedUpAt === null,
  readPlaces: (client, keys) => placesOf(client, keys, false),
  async lockPlaces(client, keys) {
    const sorted = [...keys].sort(byName)
    const places = await placesOf(client, sorted, true)
    return keys.map((key) => places[sorted.indexOf(key)] as Place)
  },
}
