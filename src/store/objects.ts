import type { ObjectKind } from '../core/vocabulary.ts'
import type { Client } from './client.ts'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
export const isUuid = (id: string): boolean => UUID.test(id)

export interface FoundObject {
  readonly id: string
  readonly rootId: string
  readonly kind: ObjectKind
  readonly projectName: string
}
/** Where an object stands; anything that is not an id of ours finds nothing. */
export async function findObject(client: Client, id: string): Promise<FoundObject | null> {
  if (!isUuid(id)) return null
  const { rows } = await client.query<FoundObject>({
    name: 'find-object',
    text: `select o.id, o.root_id as "rootId", o.kind, p.name as "projectName"
      from object o join project p on p.id = o.project_id where o.id = $1`,
    values: [id],
  })
  return rows[0] ?? null
}

/** Every object of the tree that has a job and has not finished it; the root first. */
export async function activeIds(client: Client, rootId: string): Promise<readonly string[]> {
  const { rows } = await client.query<{ id: string }>({
    name: 'active-ids',
    // Sorted by itself: a plan for few objects would go through all that there are, for their order.
    text: `select id from (
        select id from object where root_id = $1 and job_id is distinct from finished_job_id offset 0
      ) active order by id`,
    values: [rootId],
  })
  return rows.map(({ id }) => id)
}

export async function readLabels(client: Client, id: string): Promise<unknown> {
  const { rows } = await client.query<{ labels: unknown }>({
    name: 'read-labels',
    text: 'select labels from object_spec where object_id = $1',
    values: [id],
  })
  return rows[0]?.labels
}

export async function writeLabels(client: Client, id: string, labels: Readonly<Record<string, string>>): Promise<void> {
  await client.query({
    name: 'write-labels',
    text: 'update object_spec set labels = $2::text::jsonb where object_id = $1',
    values: [id, JSON.stringify(labels)],
  })
}
