import type { ObjectRef, UnionRef } from '@pothos/core'
import type { RefusalType } from '../../core/errors.ts'
import type { CommonRefusal, OwnRefusalsOf } from '../../core/ports/outcome.ts'
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
type UnionMember = { readonly __typename: string } | Pick<ObjectRow, 'kind'>

const COMMON = ['ForbiddenError', 'InvalidInputError'] as const satisfies readonly CommonRefusal[]

/** The refusals of a command, besides those that each request can end in. */
interface Refusals<Type extends RefusalType> {
  readonly refusals: readonly Type[]
}

/**
 * The refusals of what is no command of a family, which its return type dictates: a missing and a superfluous type are both
 * compile errors.
 */
export const errorsOf = <Command>(
  types: Readonly<Record<OwnRefusalsOf<Command>, true>>,
): Refusals<OwnRefusalsOf<Command>> => ({ refusals: Object.keys(types) as OwnRefusalsOf<Command>[] })

/** `<Name>Result`: the success of a command, or the error that it ends in. */
export function resultUnion<Success extends UnionMember, Errors extends RefusalType>(
  name: string,
  success: ObjectRef<Types, Success> | readonly ObjectRef<Types, Success>[],
  { refusals }: Refusals<Errors>,
): UnionRef<Types, Success | ErrorValue<Errors | CommonRefusal>> {
  const errors = [...refusals, ...COMMON].map((error) => ERRORS[error])
  const union = builder.unionType(name, {
    description: 'The result, or the error that says why the request is refused.',
    // A list may still grow while modules are loaded.
    types: () => [success, errors].flat() as ObjectRef<Types, Success>[],
    resolveType: (value, { kinds }) => {
      const member: UnionMember = value as Success
      return ('__typename' in member ? member.__typename : kinds.typenameOf(member.kind)) as never
    },
  })
  return union as UnionRef<Types, Success | ErrorValue<Errors | CommonRefusal>>
}

/** The type of a field that runs a command. With several types, the object tells its own by its kind. It is null only together with an entry in `errors`. */
export const commandResult = <Success extends UnionMember, Errors extends RefusalType>(
  name: string,
  success: ObjectRef<Types, Success> | readonly ObjectRef<Types, Success>[],
  refused: Refusals<Errors>,
): {
  readonly type: UnionRef<Types, Success | ErrorValue<Errors | CommonRefusal>>
  readonly nullable: true
} => ({ type: resultUnion(name, success, refused), nullable: true })
