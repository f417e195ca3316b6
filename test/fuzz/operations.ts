import {
  type GraphQLArgument,
  type GraphQLInputType,
  type GraphQLOutputType,
  getNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  isUnionType,
} from 'graphql'
import { schema } from '../testkit/mutate.ts'
import type { Tape } from './tape.ts'
import { id, json, number, text } from './values.ts'

/** Operations by the grammar of the schema: mostly valid, sometimes nearly so. */

export interface Operation {
  readonly query: unknown
  readonly variables?: unknown
  readonly operationName?: unknown
  readonly extensions?: unknown
}

const ROOTS = ['query', 'mutation', 'subscription'] as const
type Root = (typeof ROOTS)[number]

/** One operation with its variables. */
export function operation(tape: Tape, roots: readonly Root[] = ROOTS): Operation {
  const root = tape.pick(roots)
  const type = {
    query: schema.getQueryType(),
    mutation: schema.getMutationType(),
    subscription: schema.getSubscriptionType(),
  }[root]
  const writer = new Writer(tape)
  const fields = Object.values(type?.getFields() ?? {})
  const count = root === 'subscription' ? 1 : 1 + tape.int(3)
  const selected = Array.from({ length: count }, (_, n) =>
    writer.field(tape.pick(fields), { depth: 1 + tape.int(4), alias: `f${n}` }),
  )
  const written = `${root}${tape.once(6) ? ' Named' : ''}${writer.declarations()} { ${selected.join(' ')} }${writer.fragments()}`
  return {
    query: tape.once(12) ? damaged(tape, written) : written,
    variables: tape.once(20) ? json(tape) : writer.variables,
    ...(tape.once(10) && { operationName: tape.pick<unknown>(['Named', 'Other', '', null, 1, {}]) }),
    ...(tape.once(20) && { extensions: json(tape) }),
  }
}

/** A field with arguments as a value, for calls of one field. */
export function inputOf(tape: Tape, type: GraphQLInputType, name = '', depth = 0): unknown {
  if (tape.once(25)) return tape.pick([() => null, () => json(tape), () => number(tape), () => text(tape)])()
  if (isNonNullType(type)) return inputOf(tape, type.ofType, name, depth)
  // As long as it may, a claim would wait.
  if (name === 'waitMs') return tape.pick([0, 1, -1])
  if (isListType(type)) return tape.list(4, () => inputOf(tape, type.ofType, name, depth))
  if (isInputObjectType(type)) {
    const fields = Object.values(type.getFields())
    const chosen =
      type.isOneOf && !tape.once(6)
        ? [tape.pick(fields)]
        : fields.filter((field) => isNonNullType(field.type) || (depth < 5 && tape.once(3)))
    return Object.fromEntries(chosen.map((field) => [field.name, inputOf(tape, field.type, field.name, depth + 1)]))
  }
  if (isEnumType(type)) return tape.pick(type.getValues()).name
  return scalar(tape, type.toString())
}

function scalar(tape: Tape, name: string): unknown {
  if (name === 'ID') return id(tape)
  if (name === 'Boolean') return tape.pick([true, false])
  if (name === 'Int' || name === 'Float') return number(tape)
  if (name === 'JSON') return json(tape)
  if (name === 'Sequence') return tape.pick([0, 1, -1, 2 ** 53, '@cursor', text(tape)])
  return text(tape)
}

const MOST_FIELDS = 12

class Writer {
  readonly #tape: Tape
  readonly variables: Record<string, unknown> = {}
  readonly #types: string[] = []
  readonly #fragments: string[] = []
  constructor(tape: Tape) {
    this.#tape = tape
  }

  declarations(): string {
    return this.#types.length > 0 ? `(${this.#types.join(', ')})` : ''
  }
  fragments(): string {
    return this.#fragments.map((one) => ` ${one}`).join('')
  }

  field(
    field: { readonly name: string; readonly args: readonly GraphQLArgument[]; readonly type: GraphQLOutputType },
    { depth, alias }: { depth: number; alias?: string },
  ): string {
    const args = field.args
      .filter((arg) => isNonNullType(arg.type) || this.#tape.once(3))
      .map((arg) => `${arg.name}: ${this.#value(arg)}`)
    const directive = this.#tape.once(15)
      ? ` @${this.#tape.pick(['include', 'skip'])}(if: ${this.#tape.pick(['true', 'false', '$no', 'null'])})`
      : ''
    const passed = args.length > 0 ? `(${args.join(', ')})` : ''
    return `${alias ? `${alias}: ` : ''}${field.name}${passed}${directive}${this.#selection(field.type, depth)}`
  }

  #value({ name, type }: GraphQLArgument): string {
    const value = inputOf(this.#tape, type, name)
    if (this.#tape.once(5)) return literal(value)
    const variable = `v${this.#types.length}`
    this.variables[variable] = value
    this.#types.push(
      `$${variable}: ${this.#tape.once(30) ? this.#tape.pick(['Int', 'JSON', 'Nothing', '[[ID]]']) : type}`,
    )
    return `$${variable}`
  }

  #selection(type: GraphQLOutputType, depth: number): string {
    const named = getNamedType(getNullableType(type))
    if (isLeafType(named)) return ''
    const typename = '__typename'
    if (depth <= 0) return ` { ${typename} }`
    if (isUnionType(named) || (isInterfaceType(named) && this.#tape.once(2))) {
      const members = schema.getPossibleTypes(named)
      const parts = this.#tape.list(4, () => {
        const member = this.#tape.pick(members)
        return `... on ${member.name}${this.#selection(member, depth - 1)}`
      })
      return ` { ${typename} ... on Error { message code } ${parts.join(' ')} }`.replace(
        isUnionType(named) && named.getTypes().some(({ name }) => name.endsWith('Error'))
          ? ''
          : '... on Error { message code }',
        '',
      )
    }
    if (!isObjectType(named) && !isInterfaceType(named)) return ''
    const fields = Object.values(named.getFields())
    const some = this.#tape.list(MOST_FIELDS, () =>
      this.field(this.#tape.pick(fields), { depth: depth - 1, alias: `a${this.#tape.int(20)}` }),
    )
    const selection = ` { ${typename} ${some.join(' ')} }`
    if (!this.#tape.once(12)) return selection
    const fragment = `F${this.#fragments.length}`
    this.#fragments.push(`fragment ${fragment} on ${named.name}${selection}`)
    return ` { ...${fragment} ${this.#tape.once(6) ? '...F0 ...F9' : ''} }`
  }
}

function literal(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`
  if (typeof value === 'object' && value !== null)
    return `{ ${Object.entries(value)
      .map(([key, inner]) => `${/^[_A-Za-z]\w*$/.test(key) ? key : 'key'}: ${literal(inner)}`)
      .join(', ')} }`
  if (typeof value === 'string' && /^[A-Z][A-Z_]+$/.test(value)) return value
  return JSON.stringify(value) ?? 'null'
}

function damaged(tape: Tape, query: string): unknown {
  const at = tape.int(Math.max(1, query.length))
  return tape.pick<() => unknown>([
    () => query.slice(0, at),
    () => query.slice(at),
    () => `${query.slice(0, at)}${text(tape)}${query.slice(at)}`,
    () => `${query} ${query}`,
    () => query.replaceAll(' ', '{'),
    () => `${'{a'.repeat(at)}${'}'.repeat(at)}`,
    () => `${query.slice(0, -1)}${' a: __typename'.repeat(at)} }`,
    () => `${query} # ${'x'.repeat(at)}`,
    () => json(tape),
  ])()
}
