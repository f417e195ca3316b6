import type { Client } from '../../../store/client.ts'
import { array, boolean, nullable, text, uuid } from '../../../store/column-types.ts'
import { statement } from '../../../store/statement.ts'
import * as table from '../../../store/tables.ts'
import type { SlotGrant } from '../rules/limits.ts'

/**
 * Strategies of limits: which of the workers, or jobs, of one limit and key gives way to which. Their ids are in the order of creation, so
 * a further attempt of an older one is still older.
 */

const SAME = 'r.limit_id = t.limit_id and r.key = t.key and r.kind = t.kind'
const WAITS = `from limit_ticket r where ${SAME} and r.granted_at is null`
const HOLDS = `from limit_ticket r where ${SAME} and r.granted_at is not null`
const NEWER = 'r.object_id > t.object_id'
const OLDER = 'r.object_id < t.object_id'

/** The sentence for what gives way. @param rival SQL of the id of what has its place @param done what that has done */
const sentence = (rival: string, done: string): string => `(
      select case o.kind when 'JOB' then root.name || '/' || o.name else root.name end || ' ${done} the limit ' || l.name
        || case t.key when '' then '.' else ', with the key ' || t.key || '.' end
      from object o join object root on root.id = o.root_id where o.id = ${rival})`
const TAKEN = 'has taken its place at'

// The indexes are read from their ends at which such a rival stands.
const RIVALS = statement({
  name: 'find-rivals-at-limits',
  text: `with found as materialized (
      select t.object_id, l.strategy = 'SKIP' as skips, case l.strategy when 'SKIP' then ${sentence('rival.id', 'has')}
        else ${sentence('rival.id', TAKEN)} end as why,
        l.strategy <> 'SKIP' and (exists (select ${WAITS} and ${OLDER}) or l.strategy = 'CANCEL_RUNNING' and exists (select ${HOLDS} and ${OLDER}))
          as replaces
      from limit_ticket t join flow_limit l on l.id = t.limit_id and l.strategy <> 'QUEUE'
      cross join lateral (select case l.strategy
        when 'SKIP' then coalesce((select r.object_id ${HOLDS} and ${OLDER} limit 1),
          (select r.object_id ${WAITS} and ${OLDER} order by r.priority desc, r.seq limit 1))
        else coalesce((select r.object_id ${WAITS} and ${NEWER} order by r.priority, r.seq desc limit 1),
          (select r.object_id ${HOLDS} and ${NEWER} limit 1)) end as id) rival
      where t.object_id = any($1::uuid[]) and coalesce(t.granted_at, '-infinity') = '-infinity'
    ), gone as (
      delete from limit_ticket where object_id = any(array(select object_id from found where why is not null))
    )
    select distinct on (object_id) object_id as id, why, skips, bool_or(replaces) over (partition by object_id) as replaces
    from found order by object_id, why`,
  params: [array(uuid)],
  row: { id: uuid, why: nullable(text), skips: boolean, replaces: boolean },
})

/** Finds the workloads that give way, which leave the lines, and those that replace others. Under the lock of slots, once they have their tickets. */
export async function findRivals(
  client: Client,
  asking: readonly { readonly id: string }[],
): Promise<ReadonlyMap<string, Pick<SlotGrant, 'givesWay' | 'replaces'>>> {
  if (asking.length === 0) return new Map()
  const { rows } = await RIVALS.query(client, [asking.map(({ id }) => id)])
  return new Map(
    rows.map(({ id, why, skips, replaces }) => [
      id,
      why === null ? { replaces } : { givesWay: { code: skips ? 'SKIPPED' : 'SUPERSEDED', message: why } },
    ]),
  )
}

const REPLACE = statement({
  name: 'replace-older-at-limits',
  text: `insert into wake (root_id, object_ids, reason)
    select o.root_id, array_agg(distinct o.id), older.reason from limit_ticket t
    join flow_limit l on l.id = t.limit_id and l.strategy in ('LATEST_ONLY', 'CANCEL_RUNNING')
    cross join lateral (
      select r.object_id as id, null as reason ${WAITS} and ${OLDER}
      union all select r.object_id, ${sentence('t.object_id', TAKEN)} ${HOLDS} and ${OLDER} and l.strategy = 'CANCEL_RUNNING'
    ) older
    cross join lateral (select id, root_id from object where id = older.id offset 0) o
    where t.object_id = $1 group by o.root_id, older.reason returning root_id`,
  params: [uuid],
  row: { root_id: table.wake.rootId },
})

/** Wakes older workloads whose place this one takes: those that wait give way when they ask, those that run by the reason. Returns their roots. */
export async function replaceOlder(client: Client, id: string): Promise<readonly string[]> {
  const { rows } = await REPLACE.query(client, [id])
  return rows.map(({ root_id }) => root_id)
}
