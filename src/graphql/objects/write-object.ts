import { invalidInput, notFound } from '../../core/errors.ts'
import type { Outcome, WrittenObject } from '../../core/ports/outcome.ts'
import type { ObjectRow } from '../../core/tree.ts'
import { forget, type GraphQLContext } from '../context.ts'
import { objectLoader } from '../loaders.ts'
import { answer, type ErrorValue, type Permission } from '../schema/errors.ts'

const GONE_SINCE = invalidInput([
  { path: 'input', message: 'what this call, or an earlier one with its idempotency key, has created is gone since' },
])

/** The object as it is after the command; one that the command has removed, as it was before. */
export async function writeObject(
  context: GraphQLContext,
  permission: Permission,
  id: string | null,
  command: () => Promise<Outcome<WrittenObject>>,
): Promise<ObjectRow | ErrorValue> {
  return await answer(
    context,
    permission,
    async (): Promise<Outcome<{ row: ObjectRow }>> => {
      const before = id === null ? null : await objectLoader(context).load(id)
      const outcome = await command()
      if (!outcome.ok) return outcome
      forget(context)
      const row = outcome.object?.row ?? (await objectLoader(context).load(outcome.objectId)) ?? before
      if (!row) return { ok: false, refusal: id === null ? GONE_SINCE : notFound(id) }
      return { ok: true, row }
    },
    ({ row }) => row,
  )
}
