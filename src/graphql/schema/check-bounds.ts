import {
  type GraphQLArgument,
  type GraphQLInputField,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  type GraphQLSchema,
  getNullableType,
  isInputObjectType,
  isListType,
} from 'graphql'
import type { FieldProblem } from '../../core/errors.ts'
import { jsonProblem } from '../../core/json-problem.ts'
import { amountOf, jsonBounds, LIMITS, type Limit } from '../../core/limits.ts'
import { textProblem } from '../../core/portable.ts'
import { Problems } from '../../core/problems.ts'
import type { BoundExtensions } from './bounds-plugin.ts'

/** Checks of inputs against their bounds, and for what cannot be stored, made once from their types. */

/** The path of a value: its name or index, below another place. */
interface Place {
  readonly above: Place | null
  readonly key: string | number
}
/** Adds a problem for each part of a value that exceeds its bound. The value is not null. */
type Check = (value: unknown, place: Place, problems: Problems) => void
type Input = GraphQLArgument | GraphQLInputField

/**
 * Makes a check that finds values beyond their bounds in arguments like these; null: none of them has a bound.
 * @throws when the declaration of an input does not name the bound that its type needs
 */
export function boundCheckOf(
  inputs: readonly Input[],
): ((args: Readonly<Record<string, unknown>>) => readonly FieldProblem[]) | null {
  const fields = checkedFields(inputs)
  if (fields.length === 0) return null
  return (args) => {
    const problems = new Problems()
    checkFields(fields, args, null, problems)
    return problems.found
  }
}

/** Finds a value that exceeds its bound in one entry of a list that is declared with `judgesEach`. */
export function boundViolations(
  schema: GraphQLSchema,
  { type, path }: { readonly type: { readonly name: string }; readonly path: string },
  entry: object,
): readonly FieldProblem[] {
  const problems = new Problems()
  checkObject(schema.getType(type.name) as GraphQLInputObjectType)(entry, { above: null, key: path }, problems)
  return problems.found
}

type CheckedField = readonly [name: string, check: Check]
const checkedFields = (inputs: readonly Input[]): readonly CheckedField[] =>
  inputs.flatMap((input): CheckedField[] => {
    const check = checkOf(input)
    return check ? [[input.name, check]] : []
  })

function checkFields(
  fields: readonly CheckedField[],
  values: Readonly<Record<string, unknown>>,
  above: Place | null,
  problems: Problems,
): void {
  for (const [key, check] of fields) {
    const value = values[key]
    if (value !== null && value !== undefined) check(value, { above, key }, problems)
  }
}

const fieldsOfTypes = new WeakMap<GraphQLInputObjectType, CheckedField[]>()

function checkObject(type: GraphQLInputObjectType): Check {
  const known = fieldsOfTypes.get(type)
  const fields = known ?? []
  if (!known) {
    // Before the fields are known, since a type may contain itself.
    fieldsOfTypes.set(type, fields)
    fields.push(...checkedFields(Object.values(type.getFields())))
  }
  return (value, place, problems) => checkFields(fields, value as Readonly<Record<string, unknown>>, place, problems)
}

function checkOf(input: Input): Check | null {
  const { limit, judgesEach }: BoundExtensions = input.extensions
  return checkOfType(input.type, limit ? LIMITS[limit] : null, { input, judgesEach })
}

/** The other scalars, and enums, are bounded by what they are. */
const UNITS: Readonly<Record<string, readonly Limit['unit'][]>> = {
  String: ['characters', 'bytes'],
  ID: ['characters'],
  JSON: ['json'],
}

function checkOfType(
  type: GraphQLInputType,
  limit: Limit | null,
  declared: { readonly input: Input; readonly judgesEach: true | undefined },
): Check | null {
  const bare = getNullableType(type)
  if (isInputObjectType(bare)) return checkObject(bare)
  if (!isListType(bare) && bare.name === 'Float') return checkFloat
  const units = isListType(bare) ? ['entries'] : UNITS[bare.name]
  if (!units) return null
  if (!limit || !units.includes(limit.unit))
    throw new Error(`${declared.input} needs a bound for ${type}: name one of LIMITS as its \`limit\`.`)
  if (isListType(bare)) {
    const checkEntry = checkOfType(bare.ofType, limit.of ?? null, declared)
    return checkList(limit, declared.judgesEach ? null : checkEntry)
  }
  if (limit.isCut) return null
  return limit.unit === 'json' ? checkJson(limit) : checkText(limit)
}

const checkList =
  (limit: Limit, checkEntry: Check | null): Check =>
  (value, above, problems) => {
    const list = value as readonly unknown[]
    if (list.length > limit.max) problems.add(pathOf(above), excess(amountOf(limit), list.length))
    else if (checkEntry)
      for (const [key, entry] of list.entries()) if (entry !== null) checkEntry(entry, { above, key }, problems)
  }

const checkText =
  (limit: Limit): Check =>
  (value, place, problems) => {
    const size = sizeOf(value as string, limit)
    if (size > limit.max) return problems.add(pathOf(place), excess(amountOf(limit), size))
    const problem = limit.isMended ? null : textProblem(value as string)
    if (problem) problems.add(pathOf(place), problem)
  }

/** A character has 1 to 3 bytes, so that the bytes of most texts need not be counted. */
function sizeOf(text: string, { unit, max }: Limit): number {
  return unit === 'bytes' && text.length <= max && text.length * 3 > max ? Buffer.byteLength(text) : text.length
}

function checkJson(limit: Limit): Check {
  const bounds = jsonBounds(limit)
  return (value, place, problems) => {
    const problem = jsonProblem(value, bounds)
    if (problem) problems.add([pathOf(place), ...problem.path].join('.'), problem.message)
  }
}

/** A literal such as 1e400 is infinite. */
const checkFloat: Check = (value, place, problems) => {
  if (!Number.isFinite(value)) problems.add(pathOf(place), 'must be a finite number')
}

const excess = (most: string, size: number): string => `must have at most ${most}, not ${size.toLocaleString('en')}`

const pathOf = ({ above, key }: Place): string => (above ? `${pathOf(above)}.${key}` : String(key))
