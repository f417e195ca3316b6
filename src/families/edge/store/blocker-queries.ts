import type { Client } from '../../../store/client.ts'
import { array, json, uuid } from '../../../store/column-types.ts'
import { statement } from '../../../store/statement.ts'
import * as table from '../../../store/tables.ts'
import type { Waiting } from '../rules/blockers.ts'

const WAITING = statement({
  text: `select o.id, o.kind, o.phase, r.id as "cloudletId", r.name as "cloudletName", r.phase as "cloudletPhase",
    c.upgrade_phase as "upgradePhase",
    case when o.phase = 'DELETE_PREPARE' then array(select json_build_object('id', d.id, 'name', d.name, 'phase', d.phase)
      from object d where d.parent_id = o.id order by d.ordinal limit 10) else '{}' end as children
  from object o join object r on r.id = o.root_id join cloudlet c on c.object_id = r.id where o.id = any($1::uuid[])`,
  params: [array(uuid)],
  row: {
    id: table.object.id,
    kind: table.object.kind,
    phase: table.object.phase,
    cloudletId: table.object.id,
    cloudletName: table.object.name,
    cloudletPhase: table.object.phase,
    upgradePhase: table.cloudlet.upgradePhase,
    children: array(json<Waiting['children'][number]>('json')),
  },
})

export async function queryBlockerInputs(
  client: Client,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Waiting>> {
  const { rows } = await WAITING.query(client, [ids])
  return new Map(rows.map((row) => [row.id, row]))
}
