import type { ObjectRef, UnionRef } from '@pothos/core'
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

/** Members are told apart by `__typename`, or by the kind of an object of a tree. */
type Member = { readonly __typename: string } | Pick<ObjectRow, 'kind'>

/**
 * `<Name>Result`: what a mutation returns, or why it was refused. Which errors can occur is the command's to say and is
 * not known to the compiler: one that is not named here would be a bug, and is reported as one.
 */
export function resultUnion<Success extends Member>(
  name: string,
  success: ObjectRef<Types, Success>,
  errors: readonly ErrorValue['type'][],
): UnionRef<Types, Success | ErrorValue> {
  const union = builder.unionType(name, {
    description: 'The result, or the error that says why the request is refused.',
    types: [success, ...errors.map((error) => ERRORS[error])] as ObjectRef<Types, Success>[],
    resolveType: (value, { kinds }) => {
      const member: Member = value as Success
      return ('__typename' in member ? member.__typename : kinds.typenameOf(member.kind)) as never
    },
  })
  return union as UnionRef<Types, Success | ErrorValue>
}
