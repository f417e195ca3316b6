import { type ExecutionResult, GraphQLError } from 'graphql'
import type { FailureCode } from '../../core/vocabulary.ts'
import { withoutStacks } from '../../core/without-stacks.ts'

/** An object that is deleted while it is read: some of its fields are read after its row, and cannot be null. */
class DeletedMeanwhile extends GraphQLError {}
const NOT_FOUND: FailureCode = 'NOT_FOUND'
export const deletedMeanwhile = (id: string): GraphQLError =>
  withoutStacks(() => new DeletedMeanwhile(`${id} was deleted while it was read.`, { extensions: { code: NOT_FOUND } }))

/** @param error as an executor lists it */
export const isDeletedMeanwhile = ({ originalError }: GraphQLError): boolean =>
  originalError instanceof DeletedMeanwhile

/** Without the errors of objects that have null in their place: such an answer is the one after the deletion. */
export function withoutDeleted(result: ExecutionResult): ExecutionResult {
  if (!result.errors?.some(isDeletedMeanwhile)) return result
  const { errors: all, ...rest } = result
  const errors = all.filter((error) => !(isDeletedMeanwhile(error) && isNull(result.data, error.path?.slice(0, -1))))
  return errors.length > 0 ? { ...rest, errors } : rest
}

/** True if all above this place is there, and the place itself is null. */
function isNull(data: unknown, place: readonly (string | number)[] = []): boolean {
  const [key, ...rest] = place
  if (key === undefined) return data === null
  return data !== null && isNull((data as Readonly<Record<string | number, unknown>>)[key], rest)
}
