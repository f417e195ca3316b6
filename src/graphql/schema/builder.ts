import SchemaBuilder from '@pothos/core'
import ComplexityPlugin from '@pothos/plugin-complexity'
import RelayPlugin from '@pothos/plugin-relay'
import WithInputPlugin from '@pothos/plugin-with-input'
import type { LogCursor } from '../../core/ports/log.ts'
import type { ObjectRow } from '../../core/tree.ts'
import type { ResolverContext } from '../resolver-context.ts'
import { BOUNDS_PLUGIN } from './bounds-plugin.ts'
import { INPUT_ARGUMENT, RELAY_DESCRIPTIONS } from './descriptions.ts'
import { complexityLimit, tooComplex } from './limits.ts'
import { RIGHTS_PLUGIN } from './rights-plugin.ts'

export interface SchemaTypes {
  Context: ResolverContext
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
 * The one builder. Each module adds a type with its queries and mutations when it is loaded. Ids are those of the
 * store, so the relay plugin provides connections and no global ids.
 */
export const builder = new SchemaBuilder<SchemaTypes>({
  plugins: [RIGHTS_PLUGIN, BOUNDS_PLUGIN, ComplexityPlugin, RelayPlugin, WithInputPlugin],
  defaultFieldNullability: false,
  complexity: { limit: complexityLimit, complexityError: tooComplex, defaultListMultiplier: 5 },
  relay: {
    nodeQueryOptions: false,
    nodesQueryOptions: false,
    nodeTypeOptions: {
      resolveType: typenameOfNode,
      description: 'Anything that can be read again by its id (`node`).',
    },
    // The field that takes `first` or `last` multiplies the cost; the edges do not multiply it again.
    idFieldOptions: { description: 'Unique and permanent.' },
    edgesFieldOptions: {
      nullable: { list: false, items: false },
      complexity: { field: 0, multiplier: 1 },
      description: RELAY_DESCRIPTIONS.edges,
    },
    nodeFieldOptions: { nullable: false, description: RELAY_DESCRIPTIONS.node },
    cursorFieldOptions: { description: RELAY_DESCRIPTIONS.cursor },
    pageInfoFieldOptions: { description: RELAY_DESCRIPTIONS.pageInfo },
    defaultConnectionTypeOptions: { description: RELAY_DESCRIPTIONS.connection },
    defaultEdgeTypeOptions: { description: RELAY_DESCRIPTIONS.edge },
    pageInfoTypeOptions: { description: RELAY_DESCRIPTIONS.pageInfoType },
    hasNextPageFieldOptions: { description: RELAY_DESCRIPTIONS.hasNextPage },
    hasPreviousPageFieldOptions: { description: RELAY_DESCRIPTIONS.hasPreviousPage },
    startCursorFieldOptions: { description: RELAY_DESCRIPTIONS.startCursor },
    endCursorFieldOptions: { description: RELAY_DESCRIPTIONS.endCursor },
    firstArgOptions: { description: RELAY_DESCRIPTIONS.first },
    afterArgOptions: { description: RELAY_DESCRIPTIONS.after, limit: 'cursor' },
    lastArgOptions: { description: RELAY_DESCRIPTIONS.last },
    beforeArgOptions: { description: RELAY_DESCRIPTIONS.before, limit: 'cursor' },
  },
  withInput: {
    typeOptions: { name: ({ fieldName }) => inputTypeName(fieldName) },
    argOptions: { description: INPUT_ARGUMENT },
  },
})

/** `createToken` takes a `CreateTokenInput`. */
const inputTypeName = (field: string): string => `${field.charAt(0).toUpperCase()}${field.slice(1)}Input`

function typenameOfNode(value: unknown, { kinds }: ResolverContext): string {
  const node = value as { readonly __typename?: string } & Pick<ObjectRow, 'kind'>
  return node.__typename ?? kinds.typenameOf(node.kind)
}

builder.queryType({
  description:
    'Reads. A nullable field is null when nothing has the id or name, when the viewer may not read it, and together with an entry in `errors`. An object that is deleted while it is read is null, or left out of its list.',
})
builder.mutationType({
  description:
    'Writes. Each mutation returns its result or an expected error, as a member of a union. It is null only together with an entry in `errors`, which tells of a malformed request or a fault of the server. `log { endCursor }` beside a mutation is the place of its changes in the log: before it, to follow from there; after it, for `atLeast`.',
})
builder.subscriptionType({
  description:
    'Streams. A stream that cannot continue ends with an event whose `errors` say why; `extensions.code` is for programs.',
})
builder.globalConnectionField('totalCount', (t) =>
  t.int({
    nullable: true,
    description: 'Count of all entries of the list, on all pages. Null only together with an entry in `errors`.',
    resolve: (connection) => connection.totalCount(),
  }),
)

export type Types = typeof builder extends PothosSchemaTypes.SchemaBuilder<infer T> ? T : never
