import { type OutputUnit, type Schema, Validator } from '@cfworker/json-schema'
import { Refused } from './environment.ts'

/** Keywords that only report an error of a nested keyword. */
export const CONTAINERS = new Set([
  'properties',
  'patternProperties',
  'additionalProperties',
  'prefixItems',
  'items',
  '$ref',
  'allOf',
  'if',
])
/** Keywords whose message names types and parts of the schema, never a part of the value. */
const SPEAKING = new Set(['type', 'required'])

/** The schema `false`: the validator locates it by the value's keys, which may be secret, instead of the schema's. */
const FALSE = 'false'

/** Throws Refused when the value violates the schema. The message has the path in the schema, since the value may be secret. */
export function validateValue(schema: Schema | boolean, value: unknown): void {
  if (schema === true) return
  if (schema === false) throw new Refused('no value satisfies this schema')
  const { valid, errors } = new Validator(schema, '2020-12', true).validate(value)
  if (valid) return
  const relevant = errors.filter(({ keyword }) => keyword !== FALSE)
  const error = relevant.find(({ keyword }) => !CONTAINERS.has(keyword)) ?? relevant.at(-1)
  throw new Refused(error ? explain(error) : 'the value does not satisfy its schema')
}

function explain({ keyword, keywordLocation, error }: OutputUnit): string {
  const detail = SPEAKING.has(keyword) ? `: ${error}` : ''
  return `the value does not satisfy ${keywordLocation} of its schema${detail}`
}
