import type { Pool } from 'pg'
import type { Client } from '../client.ts'
import { array, bigint, boolean, nullable, text, uuid } from '../column-types.ts'
import { prismaOn } from '../prisma.ts'
import { statement } from '../statement.ts'
import * as table from '../tables.ts'
import type { Projects } from './objects.ts'
import { between, byKey, direction, inOrder, type Window } from './window.ts'

export interface ProjectRow {
  readonly id: string
  readonly name: string
  readonly createdAt: Date
  readonly updatedAt: Date
  readonly generation: number
  readonly promotesTo: string | null
}

/** The condition for visible projects; null means all. */
const visible = (projects: Projects) => (projects === null ? {} : { id: { in: [...projects] } })
const shown = {
  ...{ id: true, name: true, createdAt: true, updatedAt: true, generation: true },
  promotesTo: true,
} as const

/** Existing projects that the caller may see, in no order. */
export async function loadProjects(
  pool: Pool,
  by: { readonly ids: readonly string[] } | { readonly names: readonly string[] },
  projects: Projects,
): Promise<readonly ProjectRow[]> {
  const wanted = 'ids' in by ? { id: { in: [...by.ids] } } : { name: { in: [...by.names] } }
  const prisma = await prismaOn(pool)
  return await prisma.project.findMany({ where: { AND: [wanted, visible(projects)] }, select: shown })
}

/** A page of them by name. */
export async function listProjects(
  pool: Pool,
  projects: Projects,
  window: Window<string>,
): Promise<readonly ProjectRow[]> {
  const prisma = await prismaOn(pool)
  const rows = await prisma.project.findMany({
    where: { AND: [visible(projects), { name: between(window) }] },
    orderBy: { name: direction(window) },
    take: window.limit,
    select: shown,
  })
  return inOrder(rows, window)
}

export async function countProjects(pool: Pool, projects: Projects): Promise<number> {
  const prisma = await prismaOn(pool)
  return await prisma.project.count({ where: visible(projects) })
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

export interface PagedDataObjectRow extends DataObjectRow {
  /** False: the value is null here, since the page would have too many bytes with it. */
  readonly isLoaded: boolean
}

const dataObjects = (order: 'asc' | 'desc') =>
  statement({
    text: `select key, "projectId", name, case when bytes <= $5 then value end as value, "exporterId", "updatedAt", bytes,
        bytes <= $5 as "isLoaded"
      from (
        select k.id as key, r.*, sum(case when $5::bigint > 0 then octet_length(r.value::text) else 1 end) over (order by k.id, r.name ${order})::bigint as bytes
        from unnest($1::uuid[]) k(id) cross join lateral (
          select d.project_id as "projectId", d.name, d.value, d.exporter_id as "exporterId", d.updated_at as "updatedAt"
          from data_object d where d.project_id = k.id and ($2::text is null or d.name > $2)
            and ($3::text is null or d.name < $3) order by d.name ${order} limit $4
        ) r
      ) page order by key, name`,
    params: [array(uuid), nullable(text), nullable(text), bigint, bigint],
    row: {
      ...{ key: uuid, ...table.dataObject, value: nullable(table.dataObject.value) },
      ...{ bytes: bigint, isLoaded: boolean },
    },
  })
const DATA_OBJECTS = { asc: dataObjects('asc'), desc: dataObjects('desc') }

/**
 * A page of each project's data by name: one statement for all of them. Loads values of at most `maxBytes` altogether; `left`
 * are the bytes that another page may have, none once there was too much.
 */
export async function loadDataObjects(
  client: Client,
  projectIds: readonly string[],
  window: Window<string>,
  maxBytes: number,
): Promise<{ readonly pages: ReadonlyMap<string, readonly PagedDataObjectRow[]>; readonly left: number }> {
  const { after, before, limit } = window
  const { rows } = await DATA_OBJECTS[direction(window)].query(client, [projectIds, after, before, limit, maxBytes])
  return {
    pages: byKey(projectIds, rows, ({ key: _, bytes: __, ...row }) => row),
    left: maxBytes - rows.reduce((most, { bytes, isLoaded }) => Math.max(most, isLoaded ? bytes : maxBytes), 0),
  }
}

export async function countDataObjects(
  pool: Pool,
  projectIds: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const prisma = await prismaOn(pool)
  const counts = await prisma.dataObject.groupBy({
    by: 'projectId',
    where: { projectId: { in: [...projectIds] } },
    _count: true,
  })
  return new Map(counts.map(({ projectId, _count }) => [projectId, _count]))
}

/** A project's template of workers, its limits and its subscriptions. */
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
  const prisma = await prismaOn(pool)
  const rows = await prisma.project.findMany({
    where: { id: { in: [...ids] } },
    select: { id: true, workerTemplate: true, maxWorkers: true, maxJobs: true, strategy: true, subscriptions },
  })
  return new Map(rows.map((row) => [row.id, row]))
}

/** The existence of a secret: its value cannot be read. */
export interface SecretRow {
  readonly name: string
  readonly updatedAt: Date
}

/** The secrets of each project by name. */
export async function loadSecrets(
  pool: Pool,
  ids: readonly string[],
): Promise<ReadonlyMap<string, readonly SecretRow[]>> {
  const prisma = await prismaOn(pool)
  const rows = await prisma.secret.findMany({
    where: { projectId: { in: [...ids] } },
    orderBy: { name: 'asc' },
    select: { projectId: true, name: true, updatedAt: true },
  })
  return Map.groupBy(rows, ({ projectId }) => projectId)
}
