import SchemaBuilder, {
  BasePlugin,
  type FieldNullability,
  type InputFieldMap,
  type PothosOutputFieldConfig,
  type SchemaTypes,
  type TypeParam,
} from '@pothos/core'
import type { GraphQLFieldResolver } from 'graphql'
import { READERS, type Right, requireRight } from '../../core/rights.ts'
import { auditMutation, noteRefusal } from '../audit/audited.ts'
import type { GraphQLContext } from '../context.ts'
import { forbiddenFailure } from './failures.ts'

/**
 * Each root field declares its `right`: one that does not neither compiles nor builds. Callers that have the right nowhere
 * are refused before the field is resolved; where they have it is up to the command.
 */

interface Declared {
  /** The right that a caller needs. */
  readonly right: Right
}

declare global {
  export namespace PothosSchemaTypes {
    interface Plugins<Types extends SchemaTypes> {
      rights: RightsPlugin<Types>
    }
    interface QueryFieldOptions<
      Types extends SchemaTypes,
      Type extends TypeParam<Types>,
      Nullable extends FieldNullability<Type>,
      Args extends InputFieldMap,
      ResolveReturnShape,
    > extends Declared {}
    interface MutationFieldOptions<
      Types extends SchemaTypes,
      Type extends TypeParam<Types>,
      Nullable extends FieldNullability<Type>,
      Args extends InputFieldMap,
      ResolveReturnShape,
    > extends Declared {}
    interface SubscriptionFieldOptions<
      Types extends SchemaTypes,
      Type extends TypeParam<Types>,
      Nullable extends FieldNullability<Type>,
      Args extends InputFieldMap,
      ResolveShape,
      ResolveReturnShape,
    > extends Declared {}
  }
}

/** The right that a root field declares, from the built schema; absent: it is not a root field. */
export const rightOf = ({ extensions }: { readonly extensions: object }): Right | undefined =>
  (extensions as Partial<Declared>).right

const ROOTS: readonly string[] = ['Query', 'Mutation', 'Subscription']
type Resolver = GraphQLFieldResolver<unknown, GraphQLContext, Readonly<Record<string, unknown>>>

export class RightsPlugin<Types extends SchemaTypes> extends BasePlugin<Types> {
  override onOutputFieldConfig(field: PothosOutputFieldConfig<Types>): PothosOutputFieldConfig<Types> {
    const right = declaredRight(field)
    if (!right) return field
    const description = [field.description, describe(right)].filter(Boolean).join(' ')
    return { ...field, description, extensions: { ...field.extensions, right } }
  }

  override wrapResolve(
    resolve: GraphQLFieldResolver<unknown, Types['Context'], object>,
    field: PothosOutputFieldConfig<Types>,
  ): GraphQLFieldResolver<unknown, Types['Context'], object> {
    const right = declaredRight(field)
    // The resolver of a subscription runs for each of its events.
    if (!right || field.parentType === 'Subscription') return resolve
    const audited = { right, operation: field.name }
    const permitted =
      field.parentType === 'Mutation' && right.verb !== 'read' ? auditMutation(resolve, audited) : resolve
    const guarded: Resolver = (root, args, context, info) => {
      const refusal = requireRight(context.viewer, right)
      if (!refusal) return permitted(root, args, context, info)
      noteRefusal(context, audited, args, 'FORBIDDEN')
      // All unions are results with a ForbiddenError among their members.
      if (field.type.kind === 'Union') return { ...refusal, __typename: refusal.type }
      throw forbiddenFailure(refusal.message)
    }
    return guarded as typeof resolve
  }

  override wrapSubscribe(
    subscribe: GraphQLFieldResolver<unknown, Types['Context'], object> | undefined,
    field: PothosOutputFieldConfig<Types>,
  ): GraphQLFieldResolver<unknown, Types['Context'], object> | undefined {
    const right = declaredRight(field)
    if (!right || !subscribe) return subscribe
    const guarded: Resolver = (root, args, context, info) => {
      const refusal = requireRight(context.viewer, right)
      if (refusal) {
        noteRefusal(context, { right, operation: field.name }, args, 'FORBIDDEN')
        throw forbiddenFailure(refusal.message)
      }
      return subscribe(root, args, context, info)
    }
    return guarded as typeof subscribe
  }
}

function declaredRight<Types extends SchemaTypes>({
  parentType,
  name,
  pothosOptions,
}: PothosOutputFieldConfig<Types>): Right | null {
  if (!ROOTS.includes(parentType)) return null
  const { right } = pothosOptions as Partial<Declared>
  if (!right) throw new Error(`${parentType}.${name} declares no right`)
  return right
}

/** For the description of a field; empty for what every role may do. */
function describe({ roles, actor, everywhere }: Right): string {
  if (roles === null || READERS.every((role) => roles.includes(role))) return ''
  const named = roles.filter((role) => role !== 'ADMINISTRATOR')
  const where = everywhere ? ' for all projects' : ''
  const and = actor ? ` and the actor ${actor}` : ''
  return `Takes the role ${(named.length > 0 ? named : roles).join(' or ')}${where}${and}.`
}

export const RIGHTS_PLUGIN = 'rights'
SchemaBuilder.registerPlugin(RIGHTS_PLUGIN, RightsPlugin)
