import type { ObjectKind, Phase } from '../../../core/vocabulary.ts'
import type { Client } from '../../../store/client.ts'
import { boolean, uuid } from '../../../store/column-types.ts'
import { statement } from '../../../store/statement.ts'
import * as table from '../../../store/tables.ts'
import type { Existing } from '../rules/plan.ts'

interface Row {
  readonly id: string
  readonly parentId: string | null
  readonly kind: ObjectKind
  readonly name: string
  readonly phase: Phase
  readonly spec: unknown
  readonly handed: boolean
  readonly ignored: boolean
  readonly target: string | null
}

const READ_EXISTING = statement({
  name: 'read-existing',
  text: `select o.id, o.parent_id as "parentId", o.kind, o.name, o.phase, s.spec,
        coalesce(w.handed, false) as handed, coalesce(i.ignored, false) as ignored, d.target
      from object o join object_spec s on s.object_id = o.id
      left join agent_work w on w.object_id = o.id left join installation i on i.object_id = o.id
      left join deploy_item d on d.object_id = o.id where o.root_id = $1 order by o.ordinal`,
  params: [uuid],
  row: {
    id: table.object.id,
    parentId: table.object.parentId,
    kind: table.object.kind,
    name: table.object.name,
    phase: table.object.phase,
    spec: table.objectSpec.spec,
    handed: boolean,
    ignored: boolean,
    target: table.deployItem.target,
  },
})

const READ_EXISTING_EDGES = statement({
  name: 'read-existing-edges',
  text: `select e.from_id as "from", t.name as "to" from object o join edge e on e.from_id = o.id
      join object t on t.id = e.to_id where o.root_id = $1`,
  params: [uuid],
  row: { from: table.edge.fromId, to: table.object.name },
})

/** Reads a whole tree for a plan, in two statements whatever its size. */
export async function readExisting(client: Client, rootId: string): Promise<Existing | null> {
  const { rows } = await READ_EXISTING.query(client, [rootId])
  const edges = await READ_EXISTING_EDGES.query(client, [rootId])
  const dependsOn = Map.groupBy(edges.rows, ({ from }) => from)
  const children = Map.groupBy(rows, ({ parentId }) => parentId)
  const build = ({ parentId: _, ...own }: Row): Existing => ({
    ...own,
    dependsOn: (dependsOn.get(own.id) ?? []).map(({ to }) => to),
    children: (children.get(own.id) ?? []).map(build),
  })
  const root = rows.find(({ id }) => id === rootId)
  return root ? build(root) : null
}
