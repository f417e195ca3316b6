import type { ObjectRow } from '../../core/tree.ts'
import type { ObjectKind } from '../../core/vocabulary.ts'
import type { Client } from '../client.ts'
import { array, bigint, nullable, text, uuid } from '../column-types.ts'
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
  where at.level = cardinality($2::text[]) and ($3::object_kind is null or o.kind = $3) and ${visible('$4')}
  order by o.id limit $5`,
  params: [text, array(text), nullable(table.objectKind), nullable(array(uuid)), bigint],
  row: table.object,
})

export interface ObjectPlace {
  readonly project: string
  /** Null: of any kind. */
  readonly kind: ObjectKind | null
  readonly path: readonly string[]
}

/** The objects that stand at the end of these names, from the root's on: siblings of different kinds may share a name. */
export async function loadObjectsByPath(
  client: Client,
  { project, kind, path }: ObjectPlace,
  projects: Projects,
  limit: number,
): Promise<readonly ObjectRow[]> {
  const { rows } = await BY_PATH.query(client, [project, path, kind, projects, limit])
  return rows
}

const PATHS = statement({
  name: 'load-paths',
  text: `with recursive up (id, above, path) as (
    select o.id, o.parent_id, o.name from object o where o.id = any($1::uuid[])
    union all
    select up.id, o.parent_id, o.name || '/' || up.path from up join object o on o.id = up.above
  )
  select id, path from up where above is null`,
  params: [array(uuid)],
  row: { id: uuid, path: text },
})

/** The names from the root down to each object, divided by `/`. */
export async function loadPaths(client: Client, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const { rows } = await PATHS.query(client, [ids])
  return new Map(rows.map(({ id, path }) => [id, path]))
}
