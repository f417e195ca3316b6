import type { RefusalOf } from '../core/errors.ts'
import type { ObjectKind } from '../core/vocabulary.ts'
import { text, uuid } from '../store/column-types.ts'
import { statement } from '../store/statement.ts'
import * as table from '../store/tables.ts'
import type { LockedProject } from './family.ts'

const ROOT_BY_NAME = statement({
  name: 'root-by-name',
  text: 'select id from object where project_id = $1 and kind = $2 and name = $3 and parent_id is null',
  params: [uuid, table.objectKind, text],
  row: { id: table.object.id },
})

/** True if a root of this kind has the name already; `what` is the kind with its article, e.g. `a task`. */
export async function rootNameTaken(
  { client, projectId, assumesNamesFree }: LockedProject,
  { kind, name, what }: { readonly kind: ObjectKind; readonly name: string; readonly what: string },
): Promise<RefusalOf<'ConflictError'> | null> {
  if (assumesNamesFree) return null
  const { rows } = await ROOT_BY_NAME.query(client, [projectId, kind, name])
  const objectId = rows[0]?.id
  if (!objectId) return null
  return { type: 'ConflictError', code: 'ALREADY_EXISTS', message: `There is ${what} ${name} already.`, objectId }
}
