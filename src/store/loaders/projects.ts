import type { Client } from '../client.ts'
import type { Projects } from './objects.ts'
import { byKey, direction, inOrder, type Window } from './window.ts'

export interface ProjectRow {
  readonly id: string
  readonly name: string
  readonly createdAt: Date
  readonly updatedAt: Date
}

const SELECTION = 'p.id, p.name, p.created_at as "createdAt", p.updated_at as "updatedAt"'
const visible = (parameter: string): string => `(${parameter}::text[] is null or p.name = any(${parameter}))`

/** Those that exist and may be seen, in no order. */
export async function loadProjects(
  client: Client,
  by: { readonly ids: readonly string[] } | { readonly names: readonly string[] },
  projects: Projects,
): Promise<readonly ProjectRow[]> {
  const [condition, values] = 'ids' in by ? ['p.id = any($1::uuid[])', by.ids] : ['p.name = any($1::text[])', by.names]
  const { rows } = await client.query<ProjectRow>({
    text: `select ${SELECTION} from project p where ${condition} and ${visible('$2')}`,
    values: [values, projects],
  })
  return rows
}

/** A page of them by name. */
export async function listProjects(
  client: Client,
  projects: Projects,
  window: Window<string>,
): Promise<readonly ProjectRow[]> {
  const { rows } = await client.query<ProjectRow>({
    text: `select ${SELECTION} from project p where ${visible('$1')} and ($2::text is null or p.name > $2)
      and ($3::text is null or p.name < $3) order by p.name ${direction(window)} limit $4`,
    values: [projects, window.after, window.before, window.limit],
  })
  return inOrder(rows, window)
}

export async function countProjects(client: Client, projects: Projects): Promise<number> {
  const { rows } = await client.query<{ count: number }>({
    text: `select count(*)::int as count from project p where ${visible('$1')}`,
    values: [projects],
  })
  return rows[0]?.count ?? 0
}

/** A name of a project's scope that has a value. */
export interface DataObjectRow {
  readonly projectId: string
  readonly name: string
  readonly value: unknown
  /** The root that exports it; null when a user has set it. */
  readonly exporterId: string | null
  readonly updatedAt: Date
}

const DATA = 'd.project_id as "projectId", d.name, d.value, d.exporter_id as "exporterId", d.updated_at as "updatedAt"'

/** A page of each project's data by name: one statement for all of them. */
export async function loadDataObjects(
  client: Client,
  projectIds: readonly string[],
  window: Window<string>,
): Promise<ReadonlyMap<string, readonly DataObjectRow[]>> {
  const { rows } = await client.query<{ key: string } & DataObjectRow>({
    text: `select k.id as key, r.* from unnest($1::uuid[]) k(id) cross join lateral (
        select ${DATA} from data_object d where d.project_id = k.id and ($2::text is null or d.name > $2)
          and ($3::text is null or d.name < $3) order by d.name ${direction(window)} limit $4
      ) r order by k.id, r.name`,
    values: [projectIds, window.after, window.before, window.limit],
  })
  return byKey(projectIds, rows, ({ key: _, ...row }) => row)
}

export async function countDataObjects(
  client: Client,
  projectIds: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const { rows } = await client.query<{ key: string; count: number }>({
    text: `select project_id as key, count(*)::int as count from data_object where project_id = any($1::uuid[])
      group by project_id`,
    values: [projectIds],
  })
  return new Map(rows.map(({ key, count }) => [key, count]))
}

/** One name of a project's scope; null when it has no value or may not be seen. */
export async function loadDataObject(
  client: Client,
  at: { readonly project: string; readonly name: string },
  projects: Projects,
): Promise<DataObjectRow | null> {
  const { rows } = await client.query<DataObjectRow>({
    text: `select ${DATA} from data_object d join project p on p.id = d.project_id
      where p.name = $1 and d.name = $2 and ${visible('$3')}`,
    values: [at.project, at.name, projects],
  })
  return rows[0] ?? null
}
