import SchemaBuilder from '@pothos/core'
import ComplexityPlugin from '@pothos/plugin-complexity'
import RelayPlugin from '@pothos/plugin-relay'
import type { LogCursor } from '../../core/ports/log.ts'
import type { ObjectRow } from '../../core/tree.ts'
import type { GraphQLContext } from '../context.ts'
import { complexityLimit, tooComplex } from './limits.ts'

export interface SchemaTypes {
  Context: GraphQLContext
  Scalars: {
    ID: { Input: string; Output: string }
    DateTime: { Input: Date; Output: Date }
    JSON: { Input: NonNullable<unknown>; Output: unknown }
    Sequence: { Input: LogCursor; Output: number }
  }
  Connection: { totalCount: () => Promise<number> }
  DefaultFieldNullability: false
  DefaultInputFieldRequiredness: false
  DefaultEdgesNullability: { list: false; items: false }
  DefaultNodeNullability: false
}

/**
 * The one builder. Modules add their types to it when they are loaded: a type, its queries and its mutations in one.
 * Ids are the store's own, so the relay plugin lends its connections but not its global ids.
 */
export const builder = new SchemaBuilder<SchemaTypes>({
  plugins: [ComplexityPlugin, RelayPlugin],
  defaultFieldNullability: false,
  complexity: { limit: complexityLimit, complexityError: tooComplex, defaultListMultiplier: 5 },
  relay: {
    nodeQueryOptions: false,
    nodesQueryOptions: false,
    nodeTypeOptions: { resolveType: typenameOfNode },
    // The page was counted where its size was asked for.
    edgesFieldOptions: { nullable: { list: false, items: false }, complexity: { field: 0, multiplier: 1 } },
    nodeFieldOptions: { nullable: false },
  },
})

function typenameOfNode(value: unknown, { kinds }: GraphQLContext): string {
  const node = value as { readonly __typename?: string } & Pick<ObjectRow, 'kind'>
  return node.__typename ?? kinds.typenameOf(node.kind)
}

builder.queryType()
builder.mutationType()
builder.subscriptionType()
builder.globalConnectionField('totalCount', (t) =>
  t.int({ nullable: true, resolve: (connection) => connection.totalCount() }),
)

export type Types = typeof builder extends PothosSchemaTypes.SchemaBuilder<infer T> ? T : never
