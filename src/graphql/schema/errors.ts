import type { Refusal } from '../../core/errors.ts'
import type { Outcome } from '../../core/ports/outcome.ts'
import type { Viewer } from '../../core/ports/viewer.ts'
import type { ErrorCode } from '../../core/vocabulary.ts'
import type { GraphQLContext } from '../context.ts'
import { objectLoader } from '../loaders.ts'
import { builder } from './builder.ts'
import { ActorEnum, ErrorCodeEnum, ObjectKindEnum, PhaseEnum } from './enums.ts'
import { TreeObjectRef } from './refs.ts'

/** Expected failures: members of the result unions. */

type RefusalType = Refusal['type']
/** A refusal as a value of its GraphQL type. */
export type ErrorValue<T extends RefusalType = RefusalType> = Extract<Refusal, { readonly type: T }> & {
  readonly __typename: T
}
export const errorValue = <T extends RefusalType>(refusal: Extract<Refusal, { readonly type: T }>): ErrorValue<T> => ({
  ...refusal,
  __typename: refusal.type as T,
})

const CODES: Readonly<Record<Exclude<RefusalType, 'ConflictError'>, ErrorCode>> = {
  InvalidInputError: 'INVALID_INPUT',
  NotFoundError: 'NOT_FOUND',
  ForbiddenError: 'FORBIDDEN',
  TransitionError: 'TRANSITION',
  StaleReportError: 'STALE_REPORT',
  LimitError: 'LIMIT',
}
const codeOf = (refusal: Refusal): ErrorCode => (refusal.type === 'ConflictError' ? refusal.code : CODES[refusal.type])

export const ErrorRef = builder.interfaceRef<ErrorValue>('Error').implement({
  description: 'Why a request was refused.',
  fields: (t) => ({
    message: t.exposeString('message'),
    code: t.field({ type: ErrorCodeEnum, resolve: codeOf }),
  }),
  resolveType: (value) => value.__typename,
})

const errorType = <T extends RefusalType>(name: T) => builder.objectRef<ErrorValue<T>>(name)

export const InvalidInputErrorRef = errorType('InvalidInputError').implement({
  interfaces: [ErrorRef],
  fields: (t) => ({ fields: t.field({ type: [FieldErrorRef], resolve: (error) => [...error.fields] }) }),
})
const FieldErrorRef = builder.objectRef<{ readonly path: string; readonly message: string }>('FieldError').implement({
  fields: (t) => ({
    path: t.exposeString('path', { description: 'As in the input, e.g. input.spec.deployItems.2.dependsOn.0' }),
    message: t.exposeString('message'),
  }),
})
export const NotFoundErrorRef = errorType('NotFoundError').implement({
  interfaces: [ErrorRef],
  fields: (t) => ({ id: t.exposeID('id', { nullable: true }) }),
})
export const ForbiddenErrorRef = errorType('ForbiddenError').implement({ interfaces: [ErrorRef] })
export const ConflictErrorRef = errorType('ConflictError').implement({
  description:
    'ALREADY_EXISTS, GENERATION_MISMATCH, BUSY, IN_USE, NOT_READY, CLOUDLET_…: the object that stands in the way.',
  interfaces: [ErrorRef],
  fields: (t) => ({
    object: t.field({
      type: TreeObjectRef,
      nullable: true,
      resolve: ({ objectId }, _, context) => (objectId ? objectLoader(context).load(objectId) : null),
    }),
  }),
})
export const TransitionErrorRef = errorType('TransitionError').implement({
  interfaces: [ErrorRef],
  fields: (t) => ({
    kind: t.expose('kind', { type: ObjectKindEnum }),
    from: t.expose('from', { type: PhaseEnum }),
    to: t.expose('to', { type: PhaseEnum }),
    actor: t.expose('actor', { type: ActorEnum }),
    allowed: t.field({
      type: [PhaseEnum],
      description: 'Where this actor could move it from here.',
      resolve: (error) => [...error.allowed],
    }),
  }),
})
export const StaleReportErrorRef = errorType('StaleReportError').implement({ interfaces: [ErrorRef] })
export const LimitErrorRef = errorType('LimitError').implement({
  interfaces: [ErrorRef],
  fields: (t) => ({ limit: t.exposeInt('limit') }),
})

/** What a caller must be. */
export type Permission = 'read' | 'write' | 'administer' | 'agent' | 'jobs'
const MAY: Readonly<Record<Permission, { readonly roles: readonly Viewer['role'][]; readonly otherwise: string }>> = {
  read: { roles: ['ADMIN', 'USER', 'READER', 'AGENT', 'WORKER'], otherwise: 'may not read' },
  write: { roles: ['ADMIN', 'USER'], otherwise: 'may not change anything' },
  administer: { roles: ['ADMIN'], otherwise: 'is not an administrator' },
  agent: { roles: ['AGENT'], otherwise: 'is not an agent' },
  jobs: { roles: ['ADMIN', 'USER', 'WORKER'], otherwise: 'may not change jobs' },
}

/** Null: the caller may. */
export function refusedBy({ viewer }: GraphQLContext, permission: Permission): ErrorValue | null {
  const { roles, otherwise } = MAY[permission]
  if (roles.includes(viewer.role)) return null
  const message = `${viewer.name} has the role ${viewer.role} and ${otherwise}.`
  return { __typename: 'ForbiddenError', type: 'ForbiddenError', message }
}

/** Runs a command if the caller may; its outcome becomes a member of a result union. */
export async function answer<T, V>(
  context: GraphQLContext,
  permission: Permission,
  run: () => Promise<Outcome<T>>,
  accepted: (value: T) => V | Promise<V>,
): Promise<V | ErrorValue> {
  const refused = refusedBy(context, permission)
  if (refused) return refused
  const outcome = await run()
  return outcome.ok ? await accepted(outcome) : errorValue(outcome.refusal)
}
