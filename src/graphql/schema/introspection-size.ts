import {
  type DocumentNode,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  getNamedType,
  isObjectType,
  Kind,
  SchemaMetaFieldDef,
  type SelectionSetNode,
  TypeMetaFieldDef,
  visit,
} from 'graphql'

/**
 * Counts roughly the characters of the answers to a document's introspection; counting ends beyond the limit. Nothing
 * else bounds them: GraphQL itself answers them, at once and as a whole.
 */
export function introspectionSize(document: DocumentNode, schema: GraphQLSchema, limit: number): number {
  const meter = new IntrospectionMeter(document, schema, limit)
  visit(document, {
    Field({ name, arguments: given, selectionSet }) {
      if (!selectionSet || !(name.value === '__schema' || name.value === '__type')) return undefined
      const named = given?.find((one) => one.name.value === 'name')?.value
      meter.measure(name.value, named?.kind === Kind.STRING ? schema.getType(named.value) : undefined, selectionSet)
      return meter.size > limit ? false : undefined
    },
  })
  return meter.size
}

type MetaFields = Readonly<Record<string, GraphQLField<unknown, unknown>>>

class IntrospectionMeter {
  size = 0
  readonly #fragments: ReadonlyMap<string, SelectionSetNode>
  readonly #info: GraphQLResolveInfo
  readonly #schema: GraphQLSchema
  readonly #limit: number
  constructor({ definitions }: DocumentNode, schema: GraphQLSchema, limit: number) {
    this.#fragments = new Map(
      definitions
        .filter((one) => one.kind === Kind.FRAGMENT_DEFINITION)
        .map((one) => [one.name.value, one.selectionSet]),
    )
    this.#schema = schema
    this.#info = { schema } as GraphQLResolveInfo
    this.#limit = limit
  }

  /** A type whose name is not in the document may be any: it counts as the largest. */
  measure(field: '__schema' | '__type', named: unknown, selections: SelectionSetNode): void {
    const type = getNamedType((field === '__schema' ? SchemaMetaFieldDef : TypeMetaFieldDef).type) as GraphQLObjectType
    const source = field === '__schema' ? this.#schema : (named ?? this.#schema.getMutationType())
    this.#walk(source, type.getFields() as MetaFields, selections, 0)
  }

  #walk(source: unknown, fields: MetaFields, { selections }: SelectionSetNode, depth: number): void {
    // Deeper ones are refused, and cycles of fragments have no end.
    if (depth > MAX_DEPTH) return
    for (const selection of selections) {
      if (this.size > this.#limit) return
      if (selection.kind === Kind.INLINE_FRAGMENT) this.#walk(source, fields, selection.selectionSet, depth + 1)
      else if (selection.kind === Kind.FRAGMENT_SPREAD) {
        const fragment = this.#fragments.get(selection.name.value)
        if (fragment) this.#walk(source, fields, fragment, depth + 1)
      } else {
        const field = fields[selection.name.value]
        this.size += (selection.alias ?? selection.name).value.length
        const value: unknown = field?.resolve?.(source, { includeDeprecated: true }, undefined, this.#info)
        const below = field && getNamedType(field.type)
        for (const one of isIterable(value) ? value : [value]) {
          this.size += typeof one === 'string' ? one.length : 1
          if (one && selection.selectionSet && isObjectType(below))
            this.#walk(one, below.getFields() as MetaFields, selection.selectionSet, depth + 1)
        }
      }
    }
  }
}

const MAX_DEPTH = 64

const isIterable = (value: unknown): value is Iterable<unknown> =>
  typeof value === 'object' && value !== null && Symbol.iterator in value
