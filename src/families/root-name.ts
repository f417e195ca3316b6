import type { Refusal } from '../core/errors.ts'
import type { ObjectKind } from '../core/vocabulary.ts'
import type { LockedProject } from './family.ts'

/** Whether a root of this kind has the name already; `what` is the kind with its article, e.g. `a task`. */
export async function rootNameTaken(
  { client, projectId, trusts }: LockedProject,
  { kind, name, what }: { readonly kind: ObjectKind; readonly name: string; readonly what: string },
): Promise<Refusal | null> {
  if (trusts) return null
  const { rows } = await client.query<{ id: string }>({
    name: 'root-by-name',
    text: 'select id from object where project_id = $1 and kind = $2 and name = $3 and parent_id is null',
    values: [projectId, kind, name],
  })
  const objectId = rows[0]?.id
  if (!objectId) return null
  return { type: 'ConflictError', code: 'ALREADY_EXISTS', message: `There is ${what} ${name} already.`, objectId }
}
