import { GraphQLError, Kind, type ValueNode, valueFromASTUntyped } from 'graphql'
import { DATE_TIME_RULE, parseDateTime } from '../../core/date-time.ts'
import type { LogCursor } from '../../core/ports/log.ts'
import { decodeCursor, isSequence } from '../../log/cursor.ts'
import { builder } from './builder.ts'

/** Shows only the beginning of a text, which may be as long as a request, and nothing of an object. */
function wrong(what: string, value: unknown): GraphQLError {
  const shown =
    typeof value === 'object' ? 'This' : JSON.stringify(typeof value === 'string' ? value.slice(0, 100) : value)
  return new GraphQLError(`${shown} is not ${what}.`)
}

function parseTime(value: unknown): Date {
  const time = typeof value === 'string' ? parseDateTime(value) : null
  if (!time) throw wrong(DATE_TIME_RULE, value)
  return time
}

/** A bare number has no mark, so it does not say which history of the log it is of. */
function parseSequence(value: unknown): LogCursor {
  const cursor = isSequence(value) ? { sequence: value, mark: null } : typeof value === 'string' && decodeCursor(value)
  if (!cursor) throw wrong('a sequence, or a cursor of the log', value)
  return cursor
}

builder.scalarType('DateTime', {
  description:
    'A time as ISO 8601 text, in UTC, to the millisecond. Given to the API it may be in any time zone, and must have its offset.',
  specifiedByURL: 'https://scalars.graphql.org/andimarek/date-time.html',
  serialize: (value) => value.toISOString(),
  parseValue: parseTime,
})
builder.scalarType('JSON', {
  description: `Any JSON value. Given to the API, a whole number beyond ±${Number.MAX_SAFE_INTEGER} is refused, since many readers of JSON would round it: write it as a text. So is a text with the character NUL, or with half of a surrogate pair.`,
  serialize: (value) => value,
  parseValue: (value) => value as NonNullable<unknown>,
  parseLiteral: (node: ValueNode, variables) => valueFromASTUntyped(node, variables) as NonNullable<unknown>,
})
builder.scalarType('Sequence', {
  description:
    'A position in the log of phase changes: dense, starting at 1, growing in commit order. A JSON number, a safe integer.\n' +
    'Given to the API it may also be a cursor (a string), and should be: a cursor names the very change, so it is recognised ' +
    'when the database was restored or failed over and gives the number to another one. A bare number is taken as long as ' +
    'all histories of the log agree on it; otherwise the answer is CURSOR_EXPIRED.',
  serialize: (value) => value,
  parseValue: parseSequence,
  parseLiteral: (node: ValueNode) =>
    parseSequence(node.kind === Kind.INT ? Number(node.value) : node.kind === Kind.STRING ? node.value : undefined),
})
