import { GraphQLError } from 'graphql'
import type { Plugin } from 'graphql-yoga'

/**
 * Postgres stores no NUL character, neither in text nor in JSON, and would fail whole transactions for one, with the reports
 * of others in them. So a request with a NUL is refused before anything is executed.
 */
export const refuseNul: Plugin = {
  onParse({ params }) {
    if (/\\u(?:0000|\{0+\})/.test(String(params.source))) throw nulRefused()
  },
  onExecute({ args, setResultAndStopExecution }) {
    if (holdsNul(args.variableValues)) setResultAndStopExecution({ errors: [nulRefused()] })
  },
  onSubscribe({ args, setResultAndStopExecution }) {
    if (holdsNul(args.variableValues)) setResultAndStopExecution({ errors: [nulRefused()] })
  },
}

export const nulRefused = (): GraphQLError =>
  new GraphQLError('A text holds the character NUL (U+0000), which cannot be stored: leave it out.', {
    extensions: { code: 'BAD_USER_INPUT', http: { status: 400 } },
  })

/** Iterative: the nesting of a value is not limited yet. */
export function holdsNul(value: unknown): boolean {
  const open = [value]
  while (open.length > 0) {
    const next = open.pop()
    if (typeof next === 'string') {
      if (next.includes('\0')) return true
    } else if (typeof next === 'object' && next !== null) {
      for (const [key, inner] of Object.entries(next)) open.push(key, inner)
    }
  }
  return false
}
