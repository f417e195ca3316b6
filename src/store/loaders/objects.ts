import type { ObjectRow } from '../../core/tree.ts'
import type { ObjectKind } from '../../core/vocabulary.ts'
import type { Client } from '../client.ts'
import { array, nullable, text, uuid } from '../column-types.ts'
import { OBJECT_COLUMNS } from '../columns.ts'
import { statement } from '../statement.ts'
import * as table from '../tables.ts'

/** Ids of the projects that the caller may see; null means all. */
export type Projects = readonly string[] | null

/** The lifecycle columns of `object o` under their property names. */
export const OBJECT_SELECTION = OBJECT_COLUMNS.map(({ property, column }) => `o."${column}" as "${property}"`).join(
  ', ',
)

/** The condition for objects `o` that the caller may see; `parameter` holds the ids of its projects. */
export const visible = (parameter: string): string =>
  `(${parameter}::uuid[] is null or o.project_id = any(${parameter}::uuid[]))`

const BY_IDS = statement({
  name: 'load-objects',
  text: `select ${OBJECT_SELECTION} from object o where o.id = any($1::uuid[]) and ${visible('$2')}`,
  params: [array(uuid), nullable(array(uuid))],
  row: table.object,
})

/** The existing objects that the caller may see, in no order. */
export async function loadObjects(
  client: Client,
  ids: readonly string[],
  projects: Projects,
): Promise<readonly ObjectRow[]> {
  const { rows } = await BY_IDS.query(client, [ids, projects])
  return rows
}

// The kinds are named so that the index on (parent, kind, name) serves the step whatever the kind is.
const BY_PATH = statement({
  text: `with recursive at (id, level) as (
    select o.id, 1 from object o join project p on p.id = o.project_id
    where p.name = $1 and o.parent_id is null and o.kind = any(enum_range(null::object_kind)) and o.name = ($2::text[])[1]
    union all
    select o.id, at.level + 1 from at join object o
      on o.parent_id = at.id and o.kind = any(enum_range(null::object_kind)) and o.name = ($2::text[])[at.level + 1]
    where at.level < cardinality($2::text[])
  )
  select ${OBJECT_SELECTION} from at join object o on o.id = at.id
  where at.level = cardinality($2::text[]) and o.kind = $3 and ${visible('$4')} limit 1`,
  params: [text, array(text), table.objectKind, nullable(array(uuid))],
  row: table.object,
})

/** The object of this kind that stands at the end of these names, from the root's on. */
export async function loadObjectByPath(
  client: Client,
  at: { readonly project: string; readonly kind: ObjectKind; readonly path: readonly string[] },
  projects: Projects,
): Promise<ObjectRow | null> {
  const { rows } = await BY_PATH.query(client, [at.project, at.path, at.kind, projects])
  return rows[0] ?? null
}
