import { type OutputUnit, type Schema, Validator } from '@cfworker/json-schema'
import type { FieldProblem } from '../core/errors.ts'
import { hasExpressions } from '../core/expression.ts'
import { CONTAINERS } from './validate-value.ts'

/** The schema `false`, where a property is that must not be there. */
const FALSE = 'false'

/** Judges configs by one of our own schemas. */
export class ConfigCheck {
  readonly #schema: Schema
  readonly #validator: Validator
  readonly #hasExpressions: boolean
  /** @param options `hasExpressions`: texts with `${…}` are resolved later; by default they are */
  constructor(schema: object, { hasExpressions = true }: { readonly hasExpressions?: boolean } = {}) {
    this.#schema = schema
    this.#validator = new Validator(this.#schema, '2020-12', false)
    this.#hasExpressions = hasExpressions
  }

  /** An expression `${…}` may become anything, so it is right wherever it is. Paths begin with `at`. */
  problemsOf(config: unknown, at: string): readonly FieldProblem[] {
    // Each entry of a list costs time, and so does each of its problems.
    const tooLong = longLists(this.#schema, config, at)
    if (tooLong.length > 0) return tooLong
    const { errors } = this.#validator.validate(config)
    return errors.flatMap((error) => {
      const path = error.instanceLocation.split('/').slice(1).map(decode)
      const value = valueAt(config, path)
      const isOpen = this.#hasExpressions && typeof value === 'string' && hasExpressions(value)
      if (CONTAINERS.has(error.keyword) || isOpen) return []
      return [{ path: [at, ...path].join('.'), message: messageOf(error) }]
    })
  }
}

/** Lists with more entries than their schema allows. */
function longLists(schema: unknown, value: unknown, path: string): readonly FieldProblem[] {
  if (typeof schema !== 'object' || schema === null || typeof value !== 'object' || value === null) return []
  const { maxItems = Number.POSITIVE_INFINITY, items, properties = {}, anyOf = [] } = schema as Schema
  if (Array.isArray(value)) {
    if (value.length <= maxItems) return value.flatMap((entry, i) => longLists(items, entry, `${path}.${i}`))
    return [{ path, message: `array has too many items (${value.length} > ${maxItems})` }]
  }
  const known = Object.entries(value).flatMap(([name, part]) =>
    Object.hasOwn(properties, name) ? longLists(properties[name], part, `${path}.${name}`) : [],
  )
  return [...known, ...anyOf.flatMap((one) => longLists(one, value, path))]
}

const messageOf = ({ keyword, error }: OutputUnit): string =>
  keyword === FALSE
    ? 'there is no such setting'
    : `${error.charAt(0).toLowerCase()}${error.slice(1).replace(/\.$/, '')}`

const decode = (part: string): string => decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~')

const valueAt = (value: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>((found, key) => (found as Readonly<Record<string, unknown>> | undefined)?.[key], value)
