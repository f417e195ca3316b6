import type { Pool } from 'pg'
import type { Client } from '../client.ts'
import { array, integer, uuid } from '../column-types.ts'
import { prismaOn } from '../prisma.ts'
import { statement } from '../statement.ts'
import * as table from '../tables.ts'
import type { Projects } from './objects.ts'
import { byKey, direction, inOrder, type Window } from './window.ts'

export interface ProjectRow {
  readonly id: string
  readonly name: string
  readonly createdAt: Date
  readonly updatedAt: Date
}

/** What may be seen; null means all. */
const visible = (projects: Projects) => (projects === null ? {} : { name: { in: [...projects] } })
const shown = { id: true, name: true, createdAt: true, updatedAt: true } as const

/** Those that exist and may be seen, in no order. */
export function loadProjects(
  pool: Pool,
  by: { readonly ids: readonly string[] } | { readonly names: readonly string[] },
  projects: Projects,
): Promise<readonly ProjectRow[]> {
  const wanted = 'ids' in by ? { id: { in: [...by.ids] } } : { name: { in: [...by.names] } }
  return prismaOn(pool).project.findMany({ where: { AND: [wanted, visible(projects)] }, select: shown })
}

/** A page of them by name. */
export async function listProjects(
  pool: Pool,
  projects: Projects,
  window: Window<string>,
): Promise<readonly ProjectRow[]> {
  const { after, before, limit } = window
  const between = { name: { ...(after === null ? {} : { gt: after }), ...(before === null ? {} : { lt: before }) } }
  const rows = await prismaOn(pool).project.findMany({
    where: { AND: [visible(projects), between] },
    orderBy: { name: direction(window) },
    take: limit,
    select: shown,
  })
  return inOrder(rows, window)
}

export const countProjects = (pool: Pool, projects: Projects): Promise<number> =>
  prismaOn(pool).project.count({ where: visible(projects) })

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

const COUNT_DATA_OBJECTS = statement({
  text: `select project_id as key, count(*)::int as count from data_object where project_id = any($1::uuid[])
      group by project_id`,
  params: [array(uuid)],
  row: { key: table.dataObject.projectId, count: integer },
})

export async function countDataObjects(
  client: Client,
  projectIds: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const { rows } = await COUNT_DATA_OBJECTS.query(client, [projectIds])
  return new Map(rows.map(({ key, count }) => [key, count]))
}

/** One name of a project's scope; null when it has no value or may not be seen. */
export async function loadDataObject(
  pool: Pool,
  at: { readonly project: string; readonly name: string },
  projects: Projects,
): Promise<DataObjectRow | null> {
  return await prismaOn(pool).dataObject.findFirst({
    where: { name: at.name, project: { AND: [{ name: at.project }, visible(projects)] } },
    select: { projectId: true, name: true, value: true, exporterId: true, updatedAt: true },
  })
}

/** What a project starts and takes up. */
export interface ProjectSpecRow {
  readonly workerTemplate: unknown
  readonly maxWorkers: number | null
  readonly maxJobs: number | null
  readonly strategy: 'QUEUE' | 'LATEST_ONLY'
  readonly subscriptions: readonly {
    readonly source: string
    readonly types: readonly string[]
    readonly qualifiers: unknown
    readonly labels: unknown
    readonly task: unknown
  }[]
}

export async function loadProjectSpecs(
  pool: Pool,
  ids: readonly string[],
): Promise<ReadonlyMap<string, ProjectSpecRow>> {
  const subscriptions = {
    orderBy: { ordinal: 'asc' },
    select: { source: true, types: true, qualifiers: true, labels: true, task: true },
  } as const
  const rows = await prismaOn(pool).project.findMany({
    where: { id: { in: [...ids] } },
    select: { id: true, workerTemplate: true, maxWorkers: true, maxJobs: true, strategy: true, subscriptions },
  })
  return new Map(rows.map((row) => [row.id, row]))
}

/** That there is a secret: what it is cannot be read. */
export interface SecretRow {
  readonly name: string
  readonly updatedAt: Date
}

/** Those of each project by name. */
export async function loadSecrets(
  pool: Pool,
  ids: readonly string[],
): Promise<ReadonlyMap<string, readonly SecretRow[]>> {
  const rows = await prismaOn(pool).secret.findMany({
    where: { projectId: { in: [...ids] } },
    orderBy: { name: 'asc' },
    select: { projectId: true, name: true, updatedAt: true },
  })
  return Map.groupBy(rows, ({ projectId }) => projectId)
}
