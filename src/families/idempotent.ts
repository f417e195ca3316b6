import { createHash } from 'node:crypto'
import { invalidInput, type Refusal, type RefusalOf } from '../core/errors.ts'
import type { Outcome, WrittenObject } from '../core/ports/outcome.ts'
import type { Viewer } from '../core/ports/viewer.ts'
import { findKey, keepKey } from '../store/idempotency.ts'
import { refuse } from './access.ts'
import type { LockedProject } from './family.ts'

/** A request that is repeated with its key gets the same answer, and is not run again. */

const KEY_REUSED = invalidInput([{ path: 'input.idempotencyKey', message: 'was used for another input within a day' }])

const hashOf = (input: object): string => createHash('sha256').update(JSON.stringify(input)).digest('hex')

type Keyed = { readonly idempotencyKey?: string | null }
/** Returns the object of the first call for the same key and input within a day; refuses the key with another input. */
export async function idempotent<R extends Refusal>(
  project: Pick<LockedProject, 'client' | 'projectId' | 'now'>,
  viewer: Viewer,
  mutation: string,
  input: Keyed,
  work: () => Promise<Outcome<WrittenObject, R>>,
): Promise<Outcome<WrittenObject, R | RefusalOf<'InvalidInputError'>>> {
  if (!input.idempotencyKey) return work()
  const key = {
    principalId: viewer.principalId,
    projectId: project.projectId,
    mutation,
    key: input.idempotencyKey,
    inputHash: hashOf(input),
  }
  const known = await findKey(project.client, key, project.now)
  if (known) return known.inputHash === key.inputHash ? { ok: true, objectId: known.objectId } : refuse(KEY_REUSED)
  const result = await work()
  if (result.ok) await keepKey(project.client, key, result.objectId, project.now)
  return result
}
