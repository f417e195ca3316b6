import { type DocumentNode, GraphQLError, type GraphQLSchema, Lexer, parse, Source, TokenKind } from 'graphql'
import type { Plugin } from 'graphql-yoga'
import { withoutStacks } from '../../core/without-stacks.ts'
import { failure } from '../../graphql/schema/failures.ts'
import { introspectionSize } from '../../graphql/schema/introspection-size.ts'
import { MAX_DOCUMENT_LENGTH, MAX_INTROSPECTION, MAX_REPEATS, MAX_TOKENS } from '../../graphql/schema/limits.ts'
import { countRepeats } from '../../graphql/schema/repeats.ts'
import { MAX_NESTING } from '../json/request-text.ts'

/**
 * Refuses documents that cost too much to parse or to validate, or ask too much of GraphQL itself: each of these is done at
 * once and as a whole. Known documents are not parsed again.
 */
export const limitDocuments = (schema: GraphQLSchema): Plugin => ({
  onParse({ params, setParseFn }) {
    if (String(params.source).length > MAX_DOCUMENT_LENGTH) {
      throw failure('TOO_COMPLEX', `A document has at most ${MAX_DOCUMENT_LENGTH} characters: use variables.`)
    }
    setParseFn((text: string) =>
      withoutStacks(() => {
        const document = parseDocument(text)
        if (countRepeats(document) > MAX_REPEATS) throw failure('TOO_COMPLEX', TOO_MANY_REPEATS)
        if (INTROSPECTION.test(text) && introspectionSize(document, schema, MAX_INTROSPECTION) > MAX_INTROSPECTION)
          throw failure('TOO_COMPLEX', TOO_MUCH_INTROSPECTION)
        return document
      }),
    )
  },
})

const INTROSPECTION = /\b__(schema|type)\b/
const TOO_MANY_REPEATS = `A document selects the same fields, or fragments, at the same place up to ${MAX_REPEATS} times, counted as pairs: select each once.`
const TOO_MUCH_INTROSPECTION = `The answer to an introspection has at most about ${MAX_INTROSPECTION} characters: ask for less of the schema, or for each part once.`

function parseDocument(text: string): DocumentNode {
  try {
    if (!isTooDeep(text)) return parse(text, { maxTokens: MAX_TOKENS })
  } catch (error) {
    throw error instanceof GraphQLError ? syntaxError(error) : error
  }
  throw failure('TOO_COMPLEX', `A document is nested at most ${MAX_NESTING} levels deep: use variables.`)
}

/** Parser and validation are recursive. */
function isTooDeep(text: string): boolean {
  const lexer = new Lexer(new Source(text))
  let depth = 0
  for (let { kind } = lexer.advance(); kind !== TokenKind.EOF; { kind } = lexer.advance()) {
    if (OPENING.has(kind)) depth += 1
    else if (CLOSING.has(kind)) depth -= 1
    if (depth > MAX_NESTING) return true
  }
  return false
}
const OPENING: ReadonlySet<TokenKind> = new Set([TokenKind.BRACE_L, TokenKind.BRACKET_L, TokenKind.PAREN_L])
const CLOSING: ReadonlySet<TokenKind> = new Set([TokenKind.BRACE_R, TokenKind.BRACKET_R, TokenKind.PAREN_R])

function syntaxError(error: GraphQLError): GraphQLError {
  error.extensions.code = 'GRAPHQL_PARSE_FAILED'
  return error
}
