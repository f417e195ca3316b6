import type { ObjectKind } from '../core/vocabulary.ts'
import type { Client } from './client.ts'
import { text, uuid } from './column-types.ts'
import { statement } from './statement.ts'
import * as table from './tables.ts'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
export const isUuid = (id: string): boolean => UUID.test(id)

export interface FoundObject {
  readonly id: string
  readonly rootId: string
  readonly kind: ObjectKind
  readonly projectId: string
  readonly projectName: string
}
const FIND_OBJECT = statement({
  name: 'find-object',
  text: `select o.id, o.root_id as "rootId", o.kind, o.project_id as "projectId", p.name as "projectName"
      from object o join project p on p.id = o.project_id where o.id = $1`,
  params: [uuid],
  row: {
    id: table.object.id,
    rootId: table.object.rootId,
    kind: table.object.kind,
    projectId: table.object.projectId,
    projectName: table.project.name,
  },
})

/** The object's project and tree; null for anything but an id of an object. */
export async function findObject(client: Client, id: string): Promise<FoundObject | null> {
  if (!isUuid(id)) return null
  const { rows } = await FIND_OBJECT.query(client, [id])
  return rows[0] ?? null
}

const ACTIVE_IDS = statement({
  name: 'active-ids',
  text: `select id from (
        select id from object where root_id = $1 and job_id is distinct from finished_job_id offset 0
      ) active order by id`,
  params: [uuid],
  row: { id: table.object.id },
})

/** Every object of the tree that has a job and has not finished it; the root first. */
export async function activeIds(client: Client, rootId: string): Promise<readonly string[]> {
  const { rows } = await ACTIVE_IDS.query(client, [rootId])
  return rows.map(({ id }) => id)
}

const READ_LABELS = statement({
  name: 'read-labels',
  text: 'select labels from object_spec where object_id = $1',
  params: [uuid],
  row: { labels: table.objectSpec.labels },
})

export async function readLabels(client: Client, id: string): Promise<Readonly<Record<string, string>> | undefined> {
  const { rows } = await READ_LABELS.query(client, [id])
  return rows[0]?.labels as Readonly<Record<string, string>> | undefined
}

const WRITE_LABELS = statement({
  name: 'write-labels',
  text: 'update object_spec set labels = $2::text::jsonb where object_id = $1',
  params: [uuid, text],
})

export async function writeLabels(client: Client, id: string, labels: Readonly<Record<string, string>>): Promise<void> {
  await WRITE_LABELS.query(client, [id, JSON.stringify(labels)])
}
