import { invalidInput, notFound } from '../../core/errors.ts'
import type { Outcome, WrittenObject } from '../../core/ports/outcome.ts'
import type { ObjectRow } from '../../core/tree.ts'
import { forget, type GraphQLContext } from '../context.ts'
import { objectLoader } from '../loaders.ts'
import { type ErrorValue, errorValue, type Permission, refusedBy } from '../schema/errors.ts'

const GONE_SINCE = invalidInput([
  {
    path: 'input',
    message:
      'names an object that this call, or an earlier one with its idempotency key, created and that is deleted since',
  },
])

/** Runs a command and returns its object as it is now; a deleted one as it was before. */
export async function writeObject(
  context: GraphQLContext,
  permission: Permission,
  id: string | null,
  command: () => Promise<Outcome<WrittenObject>>,
): Promise<ObjectRow | ErrorValue> {
  const refused = refusedBy(context, permission)
  if (refused) return refused
  const before = id === null ? null : await objectLoader(context).load(id)
  const outcome = await command()
  if (!outcome.ok) return errorValue(outcome.refusal)
  forget(context)
  const row = outcome.object?.row ?? (await objectLoader(context).load(outcome.objectId)) ?? before
  return row ?? errorValue(id === null ? GONE_SINCE : notFound(id))
}
