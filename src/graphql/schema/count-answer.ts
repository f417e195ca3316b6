import { jsonLength } from '../../core/json.ts'
import type { GraphQLContext } from '../context.ts'

/** Texts and JSON are counted where they arise: all else is bounded by the cost of an operation. */

export function countText(value: unknown, { answer }: GraphQLContext): unknown {
  if (typeof value === 'string') answer.spend(value.length)
  else if (Array.isArray(value)) for (const text of value) answer.spend(typeof text === 'string' ? text.length : 0)
  return value
}

export function countJson(value: unknown, { answer }: GraphQLContext): unknown {
  if (value !== null && value !== undefined) answer.spend(jsonLength(value, answer.left + 1))
  return value
}
