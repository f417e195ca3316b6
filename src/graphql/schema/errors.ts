import { codeOf, type Refusal, type RefusalOf, type RefusalType } from '../../core/errors.ts'
import type { Outcome } from '../../core/ports/outcome.ts'
import { objectLoader } from '../loaders.ts'
import { builder } from './builder.ts'
import { ActorEnum, ErrorCodeEnum, ObjectKindEnum, PhaseEnum } from './enums.ts'
import { TreeObjectRef } from './refs.ts'

/** Expected failures, which are members of the result unions. */

/** A refusal as a value of its GraphQL type. */
export type ErrorValue<Type extends RefusalType = RefusalType> = Type extends RefusalType
  ? RefusalOf<Type> & { readonly __typename: Type }
  : never
export const errorValue = <R extends Refusal>(refusal: R): ErrorValue<R['type']> =>
  ({ ...refusal, __typename: refusal.type }) as unknown as ErrorValue<R['type']>

export const ErrorRef = builder.interfaceRef<ErrorValue>('Error').implement({
  description: 'Why a request is refused. Nothing is written then.',
  fields: (t) => ({
    message: t.exposeString('message', { description: 'The problem, for people. Programs read `code`.' }),
    code: t.field({ type: ErrorCodeEnum, description: 'Why the request is refused, for programs.', resolve: codeOf }),
  }),
  resolveType: (value) => value.__typename,
})

const errorType = <T extends RefusalType>(name: T) => builder.objectRef<ErrorValue<T>>(name)

export const InvalidInputErrorRef = errorType('InvalidInputError').implement({
  description: 'The input is malformed, out of bounds, or contradicts what exists.',
  interfaces: [ErrorRef],
  fields: (t) => ({
    fields: t.field({
      type: [FieldErrorRef],
      description: 'Each value that is wrong.',
      resolve: (error) => [...error.fields],
    }),
  }),
})
const FieldErrorRef = builder.objectRef<{ readonly path: string; readonly message: string }>('FieldError').implement({
  description: 'A value of the input that is wrong.',
  fields: (t) => ({
    path: t.exposeString('path', {
      description:
        'Place of the value in the arguments, by names and indexes from 0, e.g. input.spec.deployItems.2.dependsOn.0.',
    }),
    message: t.exposeString('message', { description: 'The problem of the value.' }),
  }),
})
export const NotFoundErrorRef = errorType('NotFoundError').implement({
  description: 'The object does not exist, or the viewer may not read it.',
  interfaces: [ErrorRef],
  fields: (t) => ({
    objectId: t.exposeID('objectId', {
      nullable: true,
      description: 'Id that was given; null if the request named the object otherwise.',
    }),
  }),
})
export const ForbiddenErrorRef = errorType('ForbiddenError').implement({
  description: 'The role, the projects or the types of the token do not allow the request.',
  interfaces: [ErrorRef],
})
export const ConflictErrorRef = errorType('ConflictError').implement({
  description:
    'Another object, or the state of the object itself, stands in the way; `code` says how: ALREADY_EXISTS, GENERATION_MISMATCH, REVISION_MISMATCH, BUSY, IN_USE, NOT_READY, PAUSED, CLOUDLET_UPGRADING or CLOUDLET_UPGRADE_FAILED.',
  interfaces: [ErrorRef],
  fields: (t) => ({
    object: t.field({
      type: TreeObjectRef,
      nullable: true,
      description:
        'The object that stands in the way; null if it is deleted, is no object of a tree, or the viewer may not read it.',
      resolve: ({ objectId }, _, context) => (objectId ? objectLoader(context).load(objectId) : null),
    }),
  }),
})
export const TransitionErrorRef = errorType('TransitionError').implement({
  description: 'The state machine of the object has no such transition for the actor from the present phase.',
  interfaces: [ErrorRef],
  fields: (t) => ({
    kind: t.expose('kind', { type: ObjectKindEnum, description: 'Kind of the object.' }),
    from: t.expose('from', { type: PhaseEnum, description: 'Phase that the object is in.' }),
    to: t.expose('to', { type: PhaseEnum, description: 'Phase that was requested.' }),
    actor: t.expose('actor', { type: ActorEnum, description: 'The requester.' }),
    allowed: t.field({
      type: [PhaseEnum],
      description: 'Phases to which the actor may move the object now; empty if there is none.',
      resolve: (error) => [...error.allowed],
    }),
  }),
})
export const StaleReportErrorRef = errorType('StaleReportError').implement({
  description: 'The fence is not valid any more: the work was claimed again or started anew. Stop working on it.',
  interfaces: [ErrorRef],
})
export const LimitErrorRef = errorType('LimitError').implement({
  description: 'A limit on the number or the size of something is reached.',
  interfaces: [ErrorRef],
  fields: (t) => ({ limit: t.exposeInt('limit', { description: 'The limit, in the unit that `message` names.' }) }),
})

/** The outcome of a command as a member of a result union. */
export async function answer<T, R extends Refusal, V>(
  command: Promise<Outcome<T, R>>,
  accepted: (value: T) => V | Promise<V>,
): Promise<V | ErrorValue<R['type']>> {
  const outcome = await command
  return outcome.ok ? await accepted(outcome) : (errorValue(outcome.refusal) as ErrorValue<R['type']>)
}
