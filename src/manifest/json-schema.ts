import { z } from 'zod'

/** A part of a JSON Schema (draft 7), as far as documents need one. */
export interface JsonSchema {
  readonly type?: string | readonly string[]
  readonly description?: string
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: boolean | JsonSchema
  readonly items?: JsonSchema
  readonly anyOf?: readonly JsonSchema[]
  readonly allOf?: readonly JsonSchema[]
  readonly enum?: readonly unknown[]
  /** No word of JSON Schema: editors show them beside the values of `enum`. */
  readonly enumDescriptions?: readonly string[]
  readonly const?: unknown
  readonly $ref?: string
  readonly definitions?: Readonly<Record<string, JsonSchema>>
}

/** A field of an input of the API. */
export interface InputField {
  readonly description: string
  /** The name of its type, without lists and exclamation marks. */
  readonly type: string
  /** The descriptions of the values of an enum, by their names. */
  readonly values?: Readonly<Record<string, string>>
}
/** The fields of an input by its name; of other types none. */
export type InputFields = (type: string) => Readonly<Record<string, InputField>>

/** The schema of each kind by its `kind`, the first of them for documents without one. */
export type KindSchemas = Readonly<Record<string, z.ZodType>>

const REF = '#/definitions/'
const KIND = 'The kind of the document.'

/**
 * One schema for the documents of all kinds. Fields are described as the API describes the fields of `Create<Kind>Input`, unless
 * the document has a form of its own there.
 */
export function documentSchema(
  kinds: KindSchemas,
  inputs: InputFields,
): JsonSchema & Required<Pick<JsonSchema, 'definitions'>> {
  const { properties, definitions: shared } = z.toJSONSchema(z.object(kinds), {
    ...{ io: 'input', target: 'draft-7', unrepresentable: 'any' },
  }) as JsonSchema
  const definitions = { ...properties, ...shared }
  const names = Object.keys(kinds)
  const seen = new Set<JsonSchema>()
  const describe = (part: JsonSchema, type: string): void => {
    const found = resolve(part, definitions)
    if (seen.has(found)) return
    seen.add(found)
    const fields = inputs(type)
    for (const [name, value] of Object.entries(found.properties ?? {})) {
      const field = fields[name]
      if (field && value.description === undefined)
        Object.assign(value, { description: sentences(field.description, value, definitions) })
      for (const one of field?.values ? choicesOf(value, definitions) : [])
        if (one.enum)
          Object.assign(one, { enumDescriptions: one.enum.map((each) => field?.values?.[String(each)] ?? '') })
      describe(value, field?.type ?? '')
    }
    if (found.items) describe(found.items, type)
    for (const one of found.anyOf ?? []) describe(one, type)
  }
  for (const kind of names) {
    describe({ $ref: REF + kind }, `Create${kind}Input`)
    Object.assign(definitions[kind]?.properties?.kind ?? {}, { description: KIND })
  }
  const without = { not: { required: ['kind'] } }
  const having = (kind: string) => ({ properties: { kind: { const: kind } }, required: ['kind'] })
  return {
    ...{ $schema: 'http://json-schema.org/draft-07/schema#', title: 'Phaseline documents', type: 'object' },
    properties: { kind: { enum: names, description: `${KIND} Left out: ${names[0]}.` } },
    allOf: names.map((kind, index) => ({
      if: index === 0 ? { anyOf: [without, having(kind)] } : having(kind),
      // biome-ignore lint/suspicious/noThenProperty: the word of JSON Schema
      then: { $ref: REF + kind },
    })) as readonly object[],
    definitions,
  }
}

type Definitions = Readonly<Record<string, JsonSchema>>
/** The API takes null for all that may be left out, a document only for some of it. A document takes durations as text, too. */
function sentences(description: string, value: JsonSchema, definitions: Definitions): string {
  const types = choicesOf(value, definitions).flatMap(({ type = [] }) => type)
  const isDuration = types.includes('string') && (types.includes('integer') || types.includes('object'))
  const text = takesNull(value, definitions) ? description : description.replaceAll(' or null:', ':')
  return isDuration ? `${text} Text is a duration, such as 10m.` : text
}

/** A reference stands alone, or as the only one of `allOf` where it has a description beside it. */
function resolve(part: JsonSchema, definitions: Definitions): JsonSchema {
  const ref = part.$ref ?? part.allOf?.[0]?.$ref
  return ref === undefined ? part : (definitions[ref.slice(REF.length)] ?? part)
}

/** The names of the fields at a place of a document of this schema, which is converted once. */
export function fieldNames(schema: z.ZodType): (path: readonly PropertyKey[]) => readonly string[] {
  let definitions: Definitions | undefined
  return (path) => {
    definitions ??= documentSchema({ It: schema }, () => ({})).definitions
    const names = path.filter((step) => typeof step === 'string')
    const found = partAt(definitions.It ?? {}, definitions, names)
    return 'part' in found ? namesIn(found.part, definitions) : []
  }
}

/** A field of a document. */
export interface DocumentField {
  /** Below the part at which the walk begins; `[]` is each entry of a list. */
  readonly path: string
  /** In words, e.g. `list of text`. */
  readonly type: string
  readonly required: boolean
  readonly description: string
  /** It has the fields of one around it. */
  readonly repeats: boolean
}

/** All fields below a part, each after the one that it belongs to. */
export function fieldsBelow(part: JsonSchema, definitions: Definitions, depth = Infinity): readonly DocumentField[] {
  const walk = (from: JsonSchema, prefix: string, left: number, above: readonly JsonSchema[]): DocumentField[] =>
    objectsOf(from, definitions).flatMap((object) =>
      Object.entries(object.properties ?? {}).flatMap(([name, value]) => {
        const list = isList(value, definitions) ? '[]' : ''
        const inner = objectsOf(value, definitions)
        const around = [...above, object]
        const repeats = inner.some((one) => around.includes(one))
        return [
          {
            path: prefix + name,
            type: typeInWords(value, definitions),
            required: object.required?.includes(name) ?? false,
            description: value.description ?? '',
            repeats,
          },
          ...(repeats || left <= 1 ? [] : walk(value, `${prefix}${name}${list}.`, left - 1, around)),
        ]
      }),
    )
  return walk(part, '', depth, [])
}

/** The part at a path of names, or the names that are possible where it leads nowhere. */
export function partAt(
  root: JsonSchema,
  definitions: Definitions,
  path: readonly string[],
): { readonly part: JsonSchema } | { readonly wrong: string; readonly possible: readonly string[] } {
  let part = root
  for (const name of path) {
    const found = objectsOf(part, definitions).map(({ properties = {} }) => properties)
    const next = found.find((properties) => Object.hasOwn(properties, name))?.[name]
    if (!next) return { wrong: name, possible: namesIn(part, definitions) }
    part = next
  }
  return { part }
}

/** The kinds of a value, without the null that clears it. */
export function choicesOf(part: JsonSchema, definitions: Definitions): readonly JsonSchema[] {
  const found = resolve(part, definitions)
  if (found.anyOf) return found.anyOf.flatMap((one) => choicesOf(one, definitions))
  return found.type === 'null' ? [] : [found]
}
const takesNull = (part: JsonSchema, definitions: Definitions): boolean => {
  const { type = [], anyOf = [] } = resolve(part, definitions)
  return [type].flat().includes('null') || anyOf.some((one) => takesNull(one, definitions))
}
const isList = (part: JsonSchema, definitions: Definitions): boolean =>
  choicesOf(part, definitions).some(({ items }) => items)
const objectsOf = (part: JsonSchema, definitions: Definitions): readonly JsonSchema[] =>
  choicesOf(part, definitions).flatMap((one) =>
    one.items ? objectsOf(one.items, definitions) : one.properties ? [one] : [],
  )

const namesIn = (part: JsonSchema, definitions: Definitions): readonly string[] =>
  objectsOf(part, definitions).flatMap(({ properties = {} }) => Object.keys(properties))

const WORDS: Readonly<Record<string, string>> = {
  string: 'text',
  integer: 'whole number',
  boolean: 'true or false',
}

/** e.g. `list of objects`, `whole number`, `STANDARD, IF_CHANGED or FORCE`. */
export function typeInWords(part: JsonSchema, definitions: Definitions): string {
  const words = choicesOf(part, definitions).map((one) => {
    const { type, items, additionalProperties, enum: values = one.const === undefined ? undefined : [one.const] } = one
    if (values) return orOf(values.map(String))
    if (items) return `list of ${plural(typeInWords(items, definitions))}`
    if (typeof additionalProperties === 'object') return `map of ${typeInWords(additionalProperties, definitions)}`
    const types = [type ?? []].flat().filter((each) => each !== 'null')
    return types.length === 0 ? 'any value' : orOf(types.map((each) => WORDS[each] ?? each))
  })
  return orOf([...new Set(words)])
}
const orOf = (words: readonly string[]): string =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`
const plural = (words: string): string => words.replace(/^(object|whole number|number)$/, '$1s')
