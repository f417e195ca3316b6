import {
  type DocumentNode,
  type GraphQLEnumType,
  type GraphQLSchema,
  isCompositeType,
  isEnumType,
  isInputObjectType,
  Kind,
  NoUnusedFragmentsRule,
  parse,
  specifiedRules,
  validate,
} from 'graphql'
import type { FoundDocument } from './find-documents.ts'
import { type InputContext, inputObjectType, variablesType } from './input-type.ts'
import { type PrintContext, resultType } from './result-type.ts'

export interface Printed {
  /** The TypeScript module with the types of all valid documents. */
  readonly module: string
  readonly problems: readonly string[]
}

const HEAD =
  '/** Made by `npm run generate` from schema.graphql and the texts of `gql`: by text, what is sent and what comes back. */\n'
/** A document refers to a fragment by its constant, so the fragment's own text has no operation that uses it. */
const FRAGMENT_RULES = specifiedRules.filter((rule) => rule !== NoUnusedFragmentsRule)

/** Enums that families add words to: where the vocabulary is given, their types are those that it declares. */
const WORD_ENUMS = ['ObjectKind', 'Phase', 'Actor', 'WorkAction']

export function printDocuments(
  schema: GraphQLSchema,
  documents: readonly FoundDocument[],
  { openEnums = [], vocabulary }: { readonly openEnums?: readonly string[]; readonly vocabulary?: string } = {},
): Printed {
  const used = new Set<string>()
  const context: InputContext = { schema, openEnums, use: (name) => used.add(name) }
  const problems: string[] = []
  const entries = new Map<string, string>()
  for (const document of documents) {
    if (entries.has(document.text)) continue
    const { entry, problem } = printDocument(context, document.text)
    if (entry !== undefined) entries.set(document.text, entry)
    else if (!document.isExpectedToFail) problems.push(`${document.file}:${document.line}: ${problem}`)
  }
  const lines = [...entries].sort(byText).map(([text, entry]) => `  ${JSON.stringify(text)}: ${entry}`)
  const types = printNamed(context, used, vocabulary)
  return { module: `${HEAD}export interface Documents {\n${lines.join('\n')}\n}\n${types}`, problems }
}

const byText = ([a]: readonly [string, string], [b]: readonly [string, string]): number => (a < b ? -1 : 1)

type PrintedEntry = { readonly entry?: string; readonly problem?: string }

function printDocument(context: InputContext, text: string): PrintedEntry {
  try {
    const document = parse(text)
    const isOperation = document.definitions.some(({ kind }) => kind === Kind.OPERATION_DEFINITION)
    const [error] = validate(context.schema, document, isOperation ? specifiedRules : FRAGMENT_RULES)
    return error ? { problem: error.message } : { entry: entryOf(context, document) }
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) }
  }
}

function entryOf(input: InputContext, { definitions }: DocumentNode): string {
  const { schema, use } = input
  const fragments = definitions.filter((definition) => definition.kind === Kind.FRAGMENT_DEFINITION)
  const context: PrintContext = { schema, use, fragments: new Map(fragments.map((it) => [it.name.value, it])) }
  const operation = definitions.find((definition) => definition.kind === Kind.OPERATION_DEFINITION)
  const main = operation ?? fragments[0]
  const type = operation
    ? schema.getRootType(operation.operation)
    : schema.getType(fragments[0]?.typeCondition.name.value ?? '')
  if (!main || !isCompositeType(type)) throw new Error('The document has neither an operation nor a fragment.')
  const result = resultType(context, type, [main.selectionSet])
  const variables = operation ? variablesType(input, operation.variableDefinitions ?? []) : 'never'
  return `{ readonly variables: ${variables}; readonly result: ${result} }`
}

/** Enums and input types that the documents name, and those that these name. */
function printNamed(context: InputContext, used: ReadonlySet<string>, vocabulary?: string): string {
  const printed = new Map<string, string>()
  for (const name of used) {
    const type = context.schema.getType(name)
    if (vocabulary && WORD_ENUMS.includes(name)) printed.set(name, `import('${vocabulary}').${name}`)
    else if (isEnumType(type)) printed.set(name, enumType(type))
    // A set that grows while it is read is read to its end.
    if (isInputObjectType(type)) printed.set(name, inputObjectType(type, context))
  }
  return [...printed]
    .sort(byText)
    .map(([name, body]) => `export type ${name} = ${body}\n`)
    .join('')
}

const enumType = (type: GraphQLEnumType): string =>
  type
    .getValues()
    .map(({ name }) => `'${name}'`)
    .join(' | ')
