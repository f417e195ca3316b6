import type { Artifact } from '../../../../core/ports/artifacts.ts'
import { ARTIFACT_COLUMNS, ARTIFACT_ROW, isVisibleArtifact, isVisibleCache } from '../../../../store/artifacts.ts'
import type { Client } from '../../../../store/client.ts'
import { array, bigint, integer, nullable, required, text, timestamptz, uuid } from '../../../../store/column-types.ts'
import { direction, inOrder, type Window } from '../../../../store/loaders/window.ts'
import { type RowOf, statement } from '../../../../store/statement.ts'
import * as table from '../../../../store/tables.ts'

/** An event has the artifacts of its worker and its jobs. */
export type LeftBy = 'event' | 'workload'
const COLUMN = { event: 'event_id', workload: 'object_id' } as const

const list = (by: LeftBy, order: 'asc' | 'desc') =>
  statement({
    text: `select ${ARTIFACT_COLUMNS} from artifact a where a.${COLUMN[by]} = $1 and ${isVisibleArtifact('$2')}
      and ($3::text is null or a.name = $3)
      and ($4::uuid is null or a.id > $4) and ($5::uuid is null or a.id < $5) order by a.id ${order} limit $6`,
    params: [uuid, timestamptz, nullable(text), nullable(uuid), nullable(uuid), bigint],
    row: ARTIFACT_ROW,
  })
const LIST = {
  event: { asc: list('event', 'asc'), desc: list('event', 'desc') },
  workload: { asc: list('workload', 'asc'), desc: list('workload', 'desc') },
}

interface ArtifactQuery {
  readonly by: LeftBy
  readonly id: string
  /** Null: any. */
  readonly name: string | null
  readonly now: Date
}
/** A page of those that an object has left, in the order in which their uploads began. */
export async function listArtifacts(
  client: Client,
  { by, id, name, now }: ArtifactQuery,
  window: Window<string>,
): Promise<readonly Artifact[]> {
  const { after, before, limit } = window
  const { rows } = await LIST[by][direction(window)].query(client, [id, now, name, after, before, limit])
  return inOrder(rows, window)
}

const count = (by: LeftBy) =>
  statement({
    text: `select count(*)::integer as count from artifact a where a.${COLUMN[by]} = $1 and ${isVisibleArtifact('$2')}
      and ($3::text is null or a.name = $3)`,
    params: [uuid, timestamptz, nullable(text)],
    row: { count: integer },
  })
const COUNT = { event: count('event'), workload: count('workload') }

export async function countArtifacts(client: Client, { by, id, name, now }: ArtifactQuery): Promise<number> {
  const { rows } = await COUNT[by].query(client, [id, now, name])
  return rows[0]?.count ?? 0
}

const LOAD = statement({
  text: `select ${ARTIFACT_COLUMNS} from artifact a
    where a.id = any($1::uuid[]) and ($2::uuid[] is null or a.project_id = any($2)) and ${isVisibleArtifact('$3')}`,
  params: [array(uuid), nullable(array(uuid)), timestamptz],
  row: ARTIFACT_ROW,
})

export async function loadArtifacts(
  client: Client,
  ids: readonly string[],
  { projects, now }: { readonly projects: readonly string[] | null; readonly now: Date },
): Promise<readonly Artifact[]> {
  const { rows } = await LOAD.query(client, [ids, projects, now])
  return rows
}

const FIND_TAKEN = statement({
  name: 'find-taken-artifacts',
  text: `select j.name as job, ${ARTIFACT_COLUMNS} from object j
    join workload w on w.object_id = j.id
    join artifact a on a.object_id = coalesce(w.inherited_from, j.id) and a.name = any($2::text[])
    where j.root_id = $1 and ${isVisibleArtifact('$3')} order by a.id desc`,
  params: [uuid, array(text), timestamptz],
  row: { job: table.object.name, ...ARTIFACT_ROW },
})

/** Artifacts with these names of the jobs of an event, the newest first. A job that is inherited has those of the one it stands for. */
export async function findTaken(
  client: Client,
  eventId: string,
  names: readonly string[],
  now: Date,
): Promise<readonly (Artifact & { readonly job: string })[]> {
  const { rows } = await FIND_TAKEN.query(client, [eventId, names, now])
  return rows
}

const CACHE_ROW = { ...ARTIFACT_ROW, usedAt: required(table.artifact.usedAt) }
export type CacheRow = RowOf<typeof CACHE_ROW>
const OF_PROJECT = `from artifact a where a.project_id = $1 and ${isVisibleCache('$2')}`

const listOf = (order: 'asc' | 'desc') =>
  statement({
    text: `select ${ARTIFACT_COLUMNS}, a.used_at as "usedAt" ${OF_PROJECT}
      and ($3::uuid is null or a.id > $3) and ($4::uuid is null or a.id < $4) order by a.id ${order} limit $5`,
    params: [uuid, timestamptz, nullable(uuid), nullable(uuid), bigint],
    row: CACHE_ROW,
  })
const LIST_CACHES = { asc: listOf('asc'), desc: listOf('desc') }
const COUNT_CACHES = statement({
  text: `select count(*)::integer as count ${OF_PROJECT}`,
  params: [uuid, timestamptz],
  row: { count: integer },
})

interface OfProject {
  readonly projectId: string
  readonly now: Date
}
/** A page of the entries of the cache of a project, in the order in which their uploads began. */
export async function listCaches(
  client: Client,
  { projectId, now }: OfProject,
  window: Window<string>,
): Promise<readonly CacheRow[]> {
  const { after, before, limit } = window
  const { rows } = await LIST_CACHES[direction(window)].query(client, [projectId, now, after, before, limit])
  return inOrder(rows, window)
}

export async function countCaches(client: Client, { projectId, now }: OfProject): Promise<number> {
  const { rows } = await COUNT_CACHES.query(client, [projectId, now])
  return rows[0]?.count ?? 0
}
