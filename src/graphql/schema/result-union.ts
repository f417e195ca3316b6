import type { ObjectRef, UnionRef } from '@pothos/core'
import type { RefusalType } from '../../core/errors.ts'
import type { Refused } from '../../core/ports/outcome.ts'
import type { ObjectRow } from '../../core/tree.ts'
import { builder, type Types } from './builder.ts'
import {
  ConflictErrorRef,
  type ErrorValue,
  ForbiddenErrorRef,
  InvalidInputErrorRef,
  LimitErrorRef,
  NotFoundErrorRef,
  StaleReportErrorRef,
  TransitionErrorRef,
} from './errors.ts'

const ERRORS = {
  InvalidInputError: InvalidInputErrorRef,
  NotFoundError: NotFoundErrorRef,
  ForbiddenError: ForbiddenErrorRef,
  ConflictError: ConflictErrorRef,
  TransitionError: TransitionErrorRef,
  StaleReportError: StaleReportErrorRef,
  LimitError: LimitErrorRef,
} as const satisfies Readonly<Record<ErrorValue['type'], unknown>>

/** `__typename`, or the kind of an object of a tree, distinguishes members. */
type Member = { readonly __typename: string } | Pick<ObjectRow, 'kind'>

/** The types of the refusals that a command, or its outcome, can end in. */
type RefusalTypesOf<Command> = Command extends (...args: never[]) => infer Result
  ? RefusalTypesOf<Awaited<Result>>
  : Command extends Refused<infer R>
    ? R['type']
    : never

/** Any request can be FORBIDDEN, and its input can exceed a bound. */
type ErrorsOf<Command> = Readonly<Record<RefusalTypesOf<Command> | 'ForbiddenError', true>> & {
  readonly InvalidInputError?: true
}

/**
 * The error types of a command's result union, which the command's own return type dictates: a missing and a superfluous
 * type are both compile errors. An input that exceeds a bound is an error of the request where the union has no type for it.
 */
export const errorsOf = <Command>(types: ErrorsOf<Command>): readonly (RefusalTypesOf<Command> | 'ForbiddenError')[] =>
  Object.keys(types) as (RefusalTypesOf<Command> | 'ForbiddenError')[]

/** `<Name>Result`: the success of a command, or the error that it ends in. */
export function resultUnion<Success extends Member, Errors extends RefusalType>(
  name: string,
  success: ObjectRef<Types, Success>,
  errors: readonly Errors[],
): UnionRef<Types, Success | ErrorValue<Errors>> {
  const union = builder.unionType(name, {
    description: 'The result, or the error that says why the request is refused.',
    types: [success, ...errors.map((error) => ERRORS[error])] as ObjectRef<Types, Success>[],
    resolveType: (value, { kinds }) => {
      const member: Member = value as Success
      return ('__typename' in member ? member.__typename : kinds.typenameOf(member.kind)) as never
    },
  })
  return union as UnionRef<Types, Success | ErrorValue<Errors>>
}
