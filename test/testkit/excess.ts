import {
  type GraphQLArgument,
  type GraphQLInputField,
  type GraphQLInputType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isListType,
  isRequiredInputField,
} from 'graphql'
import { LIMITS, type Limit } from '../../src/core/limits.ts'
import type { BoundExtensions } from '../../src/graphql/schema/bounds-plugin.ts'

/** A value of an argument that exceeds one bound, and nothing else is wrong with it. */
export interface Excess {
  /** Path of the value that exceeds the bound. */
  readonly path: readonly (string | number)[]
  readonly value: unknown
}

/** One for each bound of an argument and of the types within it, each of which is left out once it is among the covered. */
export const excessesOf = (argument: GraphQLArgument, covered: Set<GraphQLInputType>): Iterable<Excess> =>
  excesses(argument.type, limitOf(argument), covered)

function limitOf({ extensions }: GraphQLArgument | GraphQLInputField): Limit | null {
  const { limit }: BoundExtensions = extensions
  return limit ? LIMITS[limit] : null
}

function* excesses(type: GraphQLInputType, limit: Limit | null, covered: Set<GraphQLInputType>): Generator<Excess> {
  const bare = getNullableType(type)
  if (isListType(bare)) {
    if (limit) yield { path: [], value: Array.from({ length: limit.max + 1 }, () => leastOf(bare.ofType)) }
    const entries = excesses(bare.ofType, limit?.of ?? null, covered)
    for (const { path, value } of entries) yield { path: [0, ...path], value: [value] }
  } else if (!isInputObjectType(bare)) {
    if (limit && !limit.isCut)
      yield { path: [], value: limit.unit === 'json' ? ['x'.repeat(limit.max)] : tooLong(limit) }
  } else if (!covered.has(bare)) {
    covered.add(bare)
    const others = bare.isOneOf ? {} : (leastOf(bare) as object)
    for (const field of Object.values(bare.getFields())) {
      for (const { path, value } of excesses(field.type, limitOf(field), covered))
        yield { path: [field.name, ...path], value: { ...others, [field.name]: value } }
    }
  }
}

/** An umlaut has two bytes, so a bound in bytes is exceeded by half as many characters. */
const tooLong = ({ unit, max }: Limit): string => (unit === 'bytes' ? 'ü'.repeat(max / 2 + 1) : 'x'.repeat(max + 1))

const LEAST: Readonly<Record<string, unknown>> = { Int: 1, Float: 1, Sequence: 0, DateTime: '2026-01-01T00:00:00.000Z' }

/** The minimal valid value of a type. */
export function leastOf(type: GraphQLInputType): unknown {
  const bare = getNullableType(type)
  if (isListType(bare)) return []
  if (isEnumType(bare)) return bare.getValues()[0]?.name
  if (!isInputObjectType(bare)) return LEAST[bare.name] ?? 'x'
  const required = Object.values(bare.getFields()).filter(isRequiredInputField)
  return Object.fromEntries(required.map((field) => [field.name, leastOf(field.type)]))
}
