import { invalidInput, notFound, type Refusal } from '../../core/errors.ts'
import type { Outcome, WrittenObject } from '../../core/ports/outcome.ts'
import type { ObjectRow } from '../../core/tree.ts'
import { forget, type GraphQLContext } from '../context.ts'
import { objectLoader } from '../loaders.ts'
import { type ErrorValue, errorValue } from '../schema/errors.ts'

const GONE_SINCE = invalidInput([
  {
    path: 'input',
    message:
      'names an object that this call, or an earlier one with its idempotency key, created and that is deleted since',
  },
])

/** The object that was written, or is to be written, can be deleted meanwhile. */
type Missing<Id extends string | null> = Id extends string ? 'NotFoundError' : 'InvalidInputError'

/** Runs a command and returns its object as it is now; a deleted one as it was before. */
export async function writeObject<Id extends string | null, R extends Refusal>(
  context: GraphQLContext,
  id: Id,
  command: () => Promise<Outcome<WrittenObject, R>>,
): Promise<ObjectRow | ErrorValue<R['type'] | Missing<Id>>> {
  type Refused = ErrorValue<R['type'] | Missing<Id>>
  const before = id === null ? null : await objectLoader(context).load(id)
  const outcome = await command()
  if (!outcome.ok) return errorValue(outcome.refusal) as Refused
  forget(context)
  const row = outcome.object?.row ?? (await objectLoader(context).load(outcome.objectId)) ?? before
  return row ?? (errorValue(id === null ? GONE_SINCE : notFound(id)) as Refused)
}
