import {
  type GraphQLInputField,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isRequiredInputField,
} from 'graphql'

type Fields = Readonly<Record<string, unknown>>

/** Inputs of a schema that have each of their fields, at a value that is not its default; and what of that an answer shows. */

export interface Samples {
  /**
   * Values of fields that do not take every text or number, by `Type.field`, by their name alone, or by `Type.field.field` for a field of
   * the type that another field has. Null: it is left out there.
   */
  readonly values: Fields
  /** Fields of a type that exclude each other: an input has those of one group, and the values of the group where it gives any. */
  readonly groups: Readonly<Record<string, readonly Fields[]>>
  /** Elements of a list that stand before the one that has each field, by its type. */
  readonly before: Readonly<Record<string, readonly object[]>>
}
/** A field of a group whose value is no matter. */
export const ANY = undefined

/** So that no two texts and no two numbers are equal. */
let count = 20

/**
 * One input, or one for each group of a type in it: together they have all fields.
 * @param defaults leaves of an object that was created without what it need not have
 */
export function fullInputs(
  type: GraphQLInputObjectType,
  samples: Samples,
  defaults: ReadonlySet<Leaf>,
): readonly Fields[] {
  const inputs: Fields[] = []
  let variants = 1
  for (let variant = 0; variant < variants; variant += 1) {
    const maker = new Maker(samples, variant, defaults)
    inputs.push(maker.input(type))
    variants = maker.variants
  }
  return inputs
}

/** An input without what it need not have. */
export const leastInput = (type: GraphQLInputObjectType, samples: Samples, variant = 0): Fields =>
  new Maker(samples, variant, null).input(type)

class Maker {
  variants = 1
  readonly #samples: Samples
  readonly #variant: number
  readonly #defaults: ReadonlySet<Leaf> | null
  readonly #around: string[] = []

  /** @param defaults null: an input has what it must have, and no more */
  constructor(samples: Samples, variant: number, defaults: ReadonlySet<Leaf> | null) {
    this.#samples = samples
    this.#variant = variant
    this.#defaults = defaults
  }

  /** @param at `Type.field` that has it */
  input(type: GraphQLInputObjectType, at = ''): Fields {
    const groups = this.#samples.groups[type.name] ?? [{}]
    const group = groups[this.#variant % groups.length] ?? {}
    this.variants = Math.max(this.variants, groups.length)
    this.#around.push(type.name)
    const entries = Object.values(type.getFields()).flatMap((field) => {
      const isOfGroup = Object.hasOwn(group, field.name)
      if (!isOfGroup && groups.some((other) => Object.hasOwn(other, field.name))) return []
      const isFirst = field.name === Object.keys(group)[0]
      const isNeeded = isRequiredInputField(field) || isFirst || group[field.name] !== ANY
      if (!this.#defaults && !isNeeded) return []
      const value = group[field.name] ?? this.#value(type, field, at)
      return value === null ? [] : [[field.name, value] as const]
    })
    this.#around.pop()
    return Object.fromEntries(entries)
  }

  #value(type: GraphQLInputObjectType, field: GraphQLInputField, at: string): unknown {
    const of = `${type.name}.${field.name}`
    const { values } = this.#samples
    for (const key of [`${at}.${field.name}`, of, field.name]) if (Object.hasOwn(values, key)) return values[key]
    // A tree of inputs ends where it would begin again.
    if (!isNonNullType(field.type) && this.#around.includes(getNamedType(field.type).name)) return null
    return this.#made(field.type, field, of)
  }

  #made(type: GraphQLInputType, field: GraphQLInputField, of: string): unknown {
    if (isNonNullType(type)) return this.#made(type.ofType, field, of)
    if (isListType(type)) {
      const before = this.#samples.before[getNamedType(type).name] ?? []
      return [...before, this.#made(type.ofType, field, of)]
    }
    if (isInputObjectType(type)) return this.input(type, of)
    const isOther = (value: unknown): boolean =>
      value !== defaultOf(field) && this.#defaults?.has(leaf(field.name, value)) !== true
    if (isEnumType(type)) return type.getValues().findLast(({ name }) => isOther(name))?.name
    if (type.name === 'Boolean') return [true, false].find(isOther)
    count += 1
    if (type.name === 'Int' || type.name === 'Float') return count
    return type.name === 'JSON' ? { [`${field.name}${count}`]: count } : `${field.name}${count}`
  }
}

const defaultOf = ({ default: of }: GraphQLInputField): unknown =>
  of?.literal ? (of.literal as { readonly value?: unknown }).value : of?.value

/** A value at the name of its field, however deep that is, e.g. `maxJobs=4`. */
export type Leaf = string
const leaf = (name: string, value: unknown): Leaf => `${name}=${JSON.stringify(value)}`

/** The leaves of an input, each with its `Type.field`, without those of fields that are left out. */
export function leavesOfInput(
  type: GraphQLInputObjectType,
  input: Fields,
  isLeftOut: (of: string) => boolean,
): readonly { readonly of: string; readonly leaf: Leaf }[] {
  return Object.entries(input).flatMap(([name, value]) => {
    const field = type.getFields()[name]
    const of = `${type.name}.${name}`
    if (!field || isLeftOut(of)) return []
    const named = getNamedType(field.type)
    if (!isInputObjectType(named)) return leavesOf(value, name).map((one) => ({ of, leaf: one }))
    return [value].flat().flatMap((each) => {
      const kept = Object.entries(each as Fields).filter(([key]) => !isLeftOut(`${named.name}.${key}`))
      const fields = Object.fromEntries(kept)
      if (pairOf(fields)) return leavesOf(fields, name).map((one) => ({ of, leaf: one }))
      return leavesOfInput(named, fields, isLeftOut)
    })
  })
}

/** The leaves of an answer. A pair `{ key, value }` is as the entry of a map. */
export function leavesOf(value: unknown, name = ''): readonly Leaf[] {
  if (value === null || value === undefined) return []
  if (Array.isArray(value)) return value.flatMap((each) => leavesOf(each, name))
  if (typeof value !== 'object') return [leaf(name, value)]
  const pair = pairOf(value)
  if (pair) return [...(typeof pair[1] === 'object' ? [leaf('name', pair[0])] : []), ...leavesOf(pair[1], pair[0])]
  const { id, name: own } = value as Fields
  return [
    // An input names what an answer shows: `project: "ci"` is `project { name }`, and `rootId` is `root { id }`.
    ...(typeof own === 'string' ? [leaf(name, own)] : []),
    ...(typeof id === 'string' ? [leaf(`${name}Id`, id)] : []),
    ...Object.entries(value).flatMap(([key, each]) => leavesOf(each, key)),
  ]
}

/** A value as a manifest has it: pairs are a map there. */
export function manifestOf(value: unknown): unknown {
  if (Array.isArray(value)) {
    const pairs = value.map(pairOf)
    const isMap = pairs.length > 0 && pairs.every((pair) => pair !== null)
    return isMap ? Object.fromEntries(pairs) : value.map(manifestOf)
  }
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, manifestOf(each)]))
}

/** True for a type of pairs, which are entries of a map elsewhere. */
export const isPair = (type: GraphQLInputObjectType): boolean =>
  ['key,value', 'name,value'].includes(Object.keys(type.getFields()).sort().join())

/** `{ key, value }` or `{ name, value }`. */
function pairOf(value: unknown): readonly [name: string, value: unknown] | null {
  if (typeof value !== 'object' || value === null) return null
  const { key, name = key, value: of, ...more } = value as Fields
  return typeof name === 'string' && of !== undefined && Object.keys(more).length === 0 ? [name, of] : null
}
