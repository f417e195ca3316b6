import {
  buildSchema,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isObjectType,
  parse,
  visit,
} from 'graphql'
import { LIMITS } from '../../src/core/limits.ts'

/** The operations and types of agents, for the printers of each language. */
export interface Operations {
  /** Each names only those before it. */
  readonly types: readonly TypeOfAgents[]
  /** The most characters of a text, in UTF-16, and of the reports of a call. */
  readonly limits: readonly (readonly [name: string, most: number])[]
  readonly documents: readonly { readonly name: string; readonly text: string }[]
}
export type TypeOfAgents =
  | { readonly is: 'enum'; readonly name: string; readonly about: string; readonly values: readonly string[] }
  | {
      readonly is: 'input' | 'answer'
      readonly name: string
      readonly about: string
      /** The type whose fields it has besides its own. */
      readonly base?: string
      readonly fields: readonly Field[]
    }
export interface Field {
  readonly name: string
  readonly type: GraphQLType
  readonly about: string
  /** An input may lack it. */
  readonly isOptional: boolean
}

const OPERATIONS = ['Claim', 'Renew', 'Report', 'AppendLogs']
const BOUNDS = ['reports', 'message', 'step', 'progressUnit', 'errorCode', 'logLine'] as const
/** The fields of a line of `GET /log`. */
const CHANGE =
  `id sequence cursor objectId kind name path rootId projectName machine from to actor by byId reason message jobId revision
  rejected requested at`.split(/\s+/)
const FENCED = 'PhaseReportInput'

/** Reads them from a schema, and from the documents that our own agents send. */
export function operationsOf(schemaText: string, texts: readonly string[]): Operations {
  const schema = buildSchema(schemaText)
  const types = new Map<string, TypeOfAgents | null>()
  const documents = OPERATIONS.map((name) => {
    const text = texts.find((one) => one.startsWith(`mutation ${name}(`))
    if (text === undefined) throw new Error(`src/client/agent/agent-api.ts has no mutation ${name}.`)
    visit(parse(text), { NamedType: ({ name: { value } }) => addInput(value) })
    return { name, text }
  })
  addAnswer('WorkItem', selectedIn(documents[0]?.text ?? '', 'items'))
  addAnswer('PhaseChange', CHANGE)
  const limits = BOUNDS.map((name) => [name, LIMITS[name].max] as const)
  return { types: [...types.values()].filter((type) => type !== null), limits, documents }

  function addInput(name: string): void {
    const type = schema.getType(name)
    if (!type || types.has(name)) return
    const about = type.description ?? ''
    if (isEnumType(type)) types.set(name, { is: 'enum', name, about, values: type.getValues().map((one) => one.name) })
    if (!isInputObjectType(type)) return
    // A type that names itself is not named again.
    types.set(name, null)
    const fields = Object.values(type.getFields()).map(fieldOf)
    types.delete(name)
    if (name !== FENCED) return void types.set(name, { is: 'input', name, about, fields })
    // The agent adds the fence to what its work returns.
    const { fence = [], outcome = [] } = Object.groupBy(fields, (field) =>
      field.name === 'fence' ? 'fence' : 'outcome',
    )
    types.set('Outcome', { is: 'input', name: 'Outcome', about: 'The end of work, or its progress.', fields: outcome })
    types.set(name, { is: 'input', name, about, base: 'Outcome', fields: fence })
  }

  function addAnswer(name: string, names: readonly string[]): void {
    const type = schema.getType(name)
    if (!isObjectType(type)) throw new Error(`There is no type ${name}.`)
    const found = type.getFields()
    const fields = names.map((field) => {
      const one = found[field]
      if (!one) throw new Error(`${name} has no field ${field}.`)
      return fieldOf(one)
    })
    types.set(name, { is: 'answer', name, about: type.description ?? '', fields })
  }

  function fieldOf(field: GraphQLInputField | GraphQLField<unknown, unknown>): Field {
    const { name, type, description } = field
    addInput(namedIn(type))
    const isOptional = !isNonNullType(type) || ('default' in field && field.default !== undefined)
    return { name, type, about: description ?? '', isOptional }
  }
}

/** The fields that a document selects of a field. */
function selectedIn(text: string, field: string): readonly string[] {
  const names: string[] = []
  visit(parse(text), {
    Field: ({ name, selectionSet }) => {
      if (name.value !== field) return
      for (const one of selectionSet?.selections ?? []) if ('name' in one) names.push(one.name.value)
    },
  })
  return names
}

export function namedIn(type: GraphQLType): string {
  return isNonNullType(type) || isListType(type) ? namedIn(type.ofType) : type.name
}

/** Lines of a comment. */
export function wrapped(text: string): readonly string[] {
  return text.replaceAll(/\s+/g, ' ').match(/\S(?:.{0,110}\S)?(?=\s|$)/g) ?? []
}
