import {
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLCompositeType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
  isAbstractType,
  isCompositeType,
  isEnumType,
  isListType,
  isNonNullType,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql'

/** The TypeScript type of what a selection brings. */

export interface PrintContext {
  readonly schema: GraphQLSchema
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>
  /** Called with each enum and input type that the printed type names. */
  readonly use: (name: string) => void
}
interface SelectedField {
  readonly nodes: readonly FieldNode[]
  /** Every place that selects it has `@include` or `@skip`. */
  readonly isConditional: boolean
}
type Fields = ReadonlyMap<string, SelectedField>
/** Object types for which a selection has the same shape. */
interface Variant {
  readonly typeNames: readonly string[]
  readonly members: ReadonlyMap<string, string>
}

const SCALARS: Readonly<Record<string, string>> = {
  ID: 'string',
  String: 'string',
  Boolean: 'boolean',
  Int: 'number',
  Float: 'number',
  DateTime: 'string',
  Sequence: 'number',
  JSON: 'unknown',
}

export function resultType(
  context: PrintContext,
  type: GraphQLCompositeType,
  selections: readonly SelectionSetNode[],
): string {
  const possible = isAbstractType(type) ? context.schema.getPossibleTypes(type) : [type]
  const variants = mergeEqual(possible.map((object) => variantOf(context, object, selections)))
  const keys = new Set(variants.flatMap(({ members }) => [...members.keys()]))
  return variants.map((variant) => printVariant(variant, keys)).join(' | ')
}

function variantOf(context: PrintContext, object: GraphQLObjectType, selections: readonly SelectionSetNode[]): Variant {
  const members = new Map<string, string>()
  for (const [key, field] of fieldsOf(context, object, selections)) {
    const type = fieldType(context, object, field)
    members.set(key, `${field.isConditional ? '?' : ''}: ${type}`)
  }
  return { typeNames: [object.name], members }
}

function fieldType(context: PrintContext, object: GraphQLObjectType, { nodes }: SelectedField): string {
  const name = nodes[0]?.name.value ?? ''
  if (name === '__typename') return TYPE_NAME
  const field = object.getFields()[name]
  if (!field) throw new Error(`${object.name} has no field ${name}.`)
  const selections = nodes.flatMap(({ selectionSet }) => (selectionSet ? [selectionSet] : []))
  return outputType(context, field.type, selections)
}

function outputType(context: PrintContext, type: GraphQLOutputType, selections: readonly SelectionSetNode[]): string {
  return isNonNullType(type) ? bareType(context, type.ofType, selections) : orNull(bareType(context, type, selections))
}

function bareType(context: PrintContext, type: GraphQLOutputType, selections: readonly SelectionSetNode[]): string {
  if (isListType(type)) return `ReadonlyArray<${outputType(context, type.ofType, selections)}>`
  if (isCompositeType(type)) return resultType(context, type, selections)
  if (isNonNullType(type)) return outputType(context, type, selections)
  if (isEnumType(type)) context.use(type.name)
  return isEnumType(type) ? type.name : scalarType(type.name, SCALARS)
}

/** `unknown` has null in it. */
export const orNull = (type: string): string => (type === 'unknown' ? type : `${type} | null`)

export function scalarType(name: string, scalars: Readonly<Record<string, string>>): string {
  const type = scalars[name]
  if (type === undefined) throw new Error(`The scalar ${name} has no wire type: add it to scripts/documents.`)
  return type
}

/** The fields selected of one object type, fragments included, by the key in the answer. */
function fieldsOf(context: PrintContext, object: GraphQLObjectType, selections: readonly SelectionSetNode[]): Fields {
  const fields = new Map<string, SelectedField>()
  const add = (selection: SelectionNode, isOptional: boolean): void => {
    const isConditional = isOptional || isConditionalNode(selection)
    if (selection.kind === 'Field') {
      const key = (selection.alias ?? selection.name).value
      const known = fields.get(key)
      const nodes = [...(known?.nodes ?? []), selection]
      fields.set(key, { nodes, isConditional: isConditional && (known?.isConditional ?? true) })
      return
    }
    const fragment = selection.kind === 'InlineFragment' ? selection : context.fragments.get(selection.name.value)
    if (!fragment || !applies(context.schema, fragment.typeCondition?.name.value, object)) return
    for (const inner of fragment.selectionSet.selections) add(inner, isConditional)
  }
  for (const set of selections) for (const selection of set.selections) add(selection, false)
  return fields
}

const isConditionalNode = ({ directives = [] }: SelectionNode): boolean =>
  directives.some(({ name }) => name.value === 'include' || name.value === 'skip')

function applies(schema: GraphQLSchema, condition: string | undefined, object: GraphQLObjectType): boolean {
  const type = condition === undefined ? object : schema.getType(condition)
  return type === object || (isAbstractType(type) && schema.isSubType(type, object))
}

/** Stands for the names of a variant's types until equal variants are one. */
const TYPE_NAME = '__typename'

function mergeEqual(variants: readonly Variant[]): readonly Variant[] {
  const same = Map.groupBy(variants, ({ members }) => [...members].map((member) => member.join('')).join(';'))
  return [...same.values()].map((group) => ({
    typeNames: group.flatMap(({ typeNames }) => typeNames).sort(),
    members: group[0]?.members ?? new Map<string, string>(),
  }))
}

/** Keys of other variants are there, never with a value: an answer is read without asking for its type first. */
function printVariant({ typeNames, members }: Variant, keys: ReadonlySet<string>): string {
  const names = typeNames.map((name) => `'${name}'`).join(' | ')
  const printed = [...keys].map((key) => {
    const member = members.get(key) ?? '?: undefined'
    return `readonly ${key}${member.endsWith(TYPE_NAME) ? member.replace(TYPE_NAME, names) : member}`
  })
  return printed.length === 0 ? 'object' : `{ ${printed.join('; ')} }`
}
