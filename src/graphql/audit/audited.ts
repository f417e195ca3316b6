import { GraphQLError, type GraphQLFieldResolver } from 'graphql'
import { type AuditEntry, type AuditedCall, fieldsOf, isAudited, targetOf } from '../../core/audit.ts'
import { codeOf, type Refusal } from '../../core/errors.ts'
import type { Right } from '../../core/rights.ts'
import { isUuid } from '../../store/objects.ts'
import type { GraphQLContext } from '../context.ts'
import { failureOf, internalFailure } from '../schema/failures.ts'
import { callerOf } from './caller-of.ts'

/** Callers' actions through the API, as the audit records them. */

export interface AuditedField {
  readonly right: Right
  readonly operation: string
}
type Args = Readonly<Record<string, unknown>>
type Resolver = GraphQLFieldResolver<unknown, GraphQLContext, Args>

function entryOf({ viewer }: GraphQLContext, { right, operation }: AuditedField, args: Args): AuditedCall['entry'] {
  const target = targetOf(right, args)
  const objectId = target.objectId !== null && isUuid(target.objectId) ? target.objectId : null
  return { ...callerOf(viewer), ...target, objectId, operation, fields: fieldsOf(args) }
}

export function noteRefusal(context: GraphQLContext, field: AuditedField, args: Args, code: string): void {
  context.audit.note({ ...entryOf(context, field, args), outcome: 'REFUSED', code, count: 1 })
}

/** Commands write the event together with their change; what has written nothing is noted afterwards. */
export function auditMutation(resolve: Resolver, field: AuditedField): Resolver {
  return async (root, args, context, info) => {
    const { audit, system, viewer } = context
    const entry = entryOf(context, field, args)
    const call: AuditedCall | undefined = isAudited(field.right)
      ? { entry, nextId: () => system.id(), isWritten: false }
      : undefined
    const note = (ended: Pick<AuditEntry, 'outcome' | 'code'>) => audit.note({ ...entry, ...ended, count: 1 })
    try {
      const result: unknown = await resolve(
        root,
        args,
        call ? { ...context, viewer: { ...viewer, call } } : context,
        info,
      )
      if (isRefusal(result)) note({ outcome: 'REFUSED', code: codeOf(result) })
      else if (call && !call.isWritten) note({ outcome: 'DONE', code: null })
      return result
    } catch (error) {
      note({ outcome: 'FAILED', code: failureCode(error) })
      throw error
    } finally {
      if (call?.isWritten) audit.committed()
    }
  }
}

/** Refusals are members of result unions by their type. */
const isRefusal = (result: unknown): result is Refusal =>
  typeof result === 'object' &&
  result !== null &&
  '__typename' in result &&
  'type' in result &&
  result.type === result.__typename

function failureCode(error: unknown): string {
  if (error instanceof GraphQLError && typeof error.extensions.code === 'string') return error.extensions.code
  const shown = (error instanceof Error && failureOf(error)) || internalFailure()
  return String(shown.extensions.code)
}
