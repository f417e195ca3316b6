import { GraphQLError, Kind, type ValueNode, valueFromASTUntyped } from 'graphql'
import { builder } from './builder.ts'

const wrong = (what: string, value: unknown): GraphQLError =>
  new GraphQLError(`${JSON.stringify(value)?.slice(0, 100)} is not ${what}.`)

function parseTime(value: unknown): Date {
  const time = typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value) ? new Date(value) : null
  if (!time || Number.isNaN(time.getTime())) throw wrong('a time such as 2026-11-21T09:00:00.000Z', value)
  return time
}

function parseSequence(value: unknown): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) throw wrong('a sequence', value)
  return value
}

builder.scalarType('DateTime', {
  description: 'A time as ISO 8601 text, in UTC, to the millisecond.',
  specifiedByURL: 'https://scalars.graphql.org/andimarek/date-time.html',
  serialize: (value) => value.toISOString(),
  parseValue: parseTime,
})
builder.scalarType('JSON', {
  description: 'Any JSON value.',
  serialize: (value) => value,
  parseValue: (value) => value as NonNullable<unknown>,
  parseLiteral: (node: ValueNode, variables) => valueFromASTUntyped(node, variables) as NonNullable<unknown>,
})
builder.scalarType('Sequence', {
  description:
    'A position in the log of phase changes: dense, starting at 1, growing in commit order. A JSON number, a safe integer.',
  serialize: (value) => value,
  parseValue: parseSequence,
  parseLiteral: (node: ValueNode) => parseSequence(node.kind === Kind.INT ? Number(node.value) : undefined),
})
