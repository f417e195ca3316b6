import { CursorExpired } from '../core/ports/log.ts'
import type { ObjectKind, Phase } from '../core/vocabulary.ts'
import type { Client } from '../store/client.ts'
import { array, bigint, integer, joined, nullable, text, timestamptz, uuid } from '../store/column-types.ts'
import { statement } from '../store/statement.ts'
import * as table from '../store/tables.ts'
import { HEAD_ROW, HEAD_SQL, toHead } from './head.ts'
import { lastAtOrBefore } from './search.ts'

/** The state of one object at a sequence. */
export interface ObjectState {
  readonly objectId: string
  readonly parentId: string | null
  readonly kind: ObjectKind
  readonly name: string
  readonly phase: Phase
  readonly phaseSince: Date
  readonly revision: number
}
export interface TreeAt {
  readonly sequence: number
  readonly objects: readonly ObjectState[]
}

// The state of the objects at the floor, and the changes since: an object's last change may be pruned.
const TREE_AT_SQL = statement({
  text: `with m as materialized (${HEAD_SQL})
  select m.*, o.* from m left join lateral (
    select * from (
      select distinct on (s."objectId") s."objectId", s."parentId", s.kind, s.name, s.phase, s."phaseSince", s.revision
      from (
        select f.object_id as "objectId", f.parent_id as "parentId", f.kind, f.name, f.phase,
          f.phase_since as "phaseSince", f.revision, 0 as batch_id, 0 as idx
        from floor_state f where f.root_id = $1::uuid
        union all
        select c.object_id, c.parent_id, c.kind, c.name, c."to", c.at, c.revision, c.batch_id, c.idx
        from (${lastAtOrBefore('c.root_id = $1::uuid', '$2::bigint')}) here
        left join (${lastAtOrBefore('c.root_id = $1::uuid', 'm.floor_seq')}) floor on true
        join phase_change c on c.root_id = $1::uuid and (c.batch_id, c.idx) <= (here.batch_id, here.idx)
          and (c.batch_id, c.idx) > (coalesce(floor.batch_id, 0), coalesce(floor.idx, 0))
        where c.revision is not null and c.machine <> all ($3::text[])
      ) s
      order by s."objectId", s.batch_id desc, s.idx desc
    ) last where last.phase <> 'GONE'
  ) o on $2::bigint between m.floor_seq and m.head
  order by o."objectId"`,
  params: [uuid, bigint, array(text)],
  row: {
    ...HEAD_ROW,
    objectId: nullable(uuid),
    parentId: nullable(uuid),
    kind: joined(table.objectKind),
    name: joined(text),
    phase: joined(table.phase),
    phaseSince: joined(timestamptz),
    revision: joined(integer),
  },
})

/**
 * The objects of a tree at a sequence, in the order of their ids (and so of their creation); none when the tree did not
 * exist then. Throws CursorExpired when the sequence is pruned or not reached yet.
 * @param secondaryMachines names of machines whose changes say nothing of an object's phase
 */
export async function treeAt(
  client: Client,
  { rootId, sequence }: { readonly rootId: string; readonly sequence: number },
  secondaryMachines: readonly string[],
): Promise<TreeAt> {
  const { rows } = await TREE_AT_SQL.query(client, [rootId, sequence, secondaryMachines])
  const first = rows[0]
  if (!first) throw new Error('log_meta has no row: the database was not migrated.')
  const { floor, head } = toHead(first)
  if (sequence < floor || sequence > head) throw new CursorExpired(floor + 1, head)
  const objects = rows.flatMap((row): ObjectState[] => {
    if (row.objectId === null) return []
    const { objectId, parentId, kind, name, phase, phaseSince, revision } = row
    return [{ objectId, parentId, kind, name, phase, phaseSince, revision }]
  })
  return { sequence, objects }
}
