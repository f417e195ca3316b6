import type { GraphQLSchema } from 'graphql'
import { jsonLength } from '../../core/json.ts'
import type { GraphQLContext } from '../context.ts'
import { mapLeaves } from './leaves.ts'

/** Counts texts and JSON where they arise: all else is bounded by the cost of an operation. */
export function countAnswer(schema: GraphQLSchema): void {
  mapLeaves(schema, 'String', (value, { answer }) => {
    if (typeof value === 'string') answer.spend(value.length)
    else if (Array.isArray(value))
      answer.spend(value.reduce((sum: number, text: string | null) => sum + (text?.length ?? 0), 0))
    return value
  })
  mapLeaves(schema, 'JSON', (value, { answer }: GraphQLContext) => {
    answer.spend(jsonLength(value, answer.left + 1))
    return value
  })
}
