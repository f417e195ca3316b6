import type { ObjectKind, Phase } from '../../core/vocabulary.ts'
import type { Client } from '../../store/client.ts'
import type { Existing } from './plan.ts'

interface Row {
  readonly id: string
  readonly parentId: string | null
  readonly kind: ObjectKind
  readonly name: string
  readonly phase: Phase
  readonly spec: unknown
  readonly handed: boolean
  readonly ignored: boolean
}

/** A whole tree as a plan wants to see it. Two statements, whatever its size. */
export async function readExisting(client: Client, rootId: string): Promise<Existing | null> {
  const { rows } = await client.query<Row>({
    name: 'read-existing',
    text: `select o.id, o.parent_id as "parentId", o.kind, o.name, o.phase, s.spec,
        coalesce(w.handed, false) as handed, coalesce(i.ignored, false) as ignored
      from object o join object_spec s on s.object_id = o.id
      left join work w on w.object_id = o.id left join installation i on i.object_id = o.id
      where o.root_id = $1 order by o.ordinal`,
    values: [rootId],
  })
  const edges = await client.query<{ from: string; to: string }>({
    name: 'read-existing-edges',
    text: `select e.from_id as "from", t.name as "to" from object o join edge e on e.from_id = o.id
      join object t on t.id = e.to_id where o.root_id = $1`,
    values: [rootId],
  })
  const dependsOn = Map.groupBy(edges.rows, ({ from }) => from)
  const children = Map.groupBy(rows, ({ parentId }) => parentId)
  const build = ({ id, parentId: _, ...own }: Row): Existing => ({
    ...own,
    dependsOn: (dependsOn.get(id) ?? []).map(({ to }) => to),
    children: (children.get(id) ?? []).map(build),
  })
  const root = rows.find(({ id }) => id === rootId)
  return root ? build(root) : null
}
