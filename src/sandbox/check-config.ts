import { type OutputUnit, type Schema, Validator } from '@cfworker/json-schema'
import type { FieldProblem } from '../core/errors.ts'
import { hasExpressions } from '../core/expression.ts'
import { CONTAINERS } from './validate-value.ts'

/** The schema `false`, where a property is that must not be there. */
const FALSE = 'false'

/** Judges configs by one of our own schemas: unlike users' schemas, it needs no limits. */
export class ConfigCheck {
  readonly #validator: Validator
  readonly #hasExpressions: boolean
  /** @param options `hasExpressions`: texts with `${…}` are resolved later; by default they are */
  constructor(schema: object, { hasExpressions = true }: { readonly hasExpressions?: boolean } = {}) {
    this.#validator = new Validator(schema as Schema, '2020-12', false)
    this.#hasExpressions = hasExpressions
  }

  /** An expression `${…}` may become anything, so it is right wherever it is. Paths begin with `at`. */
  problemsOf(config: unknown, at: string): readonly FieldProblem[] {
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

const messageOf = ({ keyword, error }: OutputUnit): string =>
  keyword === FALSE
    ? 'there is no such setting'
    : `${error.charAt(0).toLowerCase()}${error.slice(1).replace(/\.$/, '')}`

const decode = (part: string): string => decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~')

const valueAt = (value: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>((found, key) => (found as Readonly<Record<string, unknown>> | undefined)?.[key], value)
