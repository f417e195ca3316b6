import { type DocumentNode, GraphQLError, Lexer, parse, Source, TokenKind } from 'graphql'
import type { Plugin } from 'graphql-yoga'
import type { FailureCode } from '../core/vocabulary.ts'
import { failure } from '../graphql/schema/failures.ts'
import { MAX_DOCUMENT_LENGTH, MAX_TOKENS } from '../graphql/schema/limits.ts'
import { MAX_NESTING, NUL } from './request-text.ts'

/** Refuses documents that cost too much to parse. Known documents are not parsed again. */
export const limitDocuments: Plugin = {
  onParse({ params, setParseFn }) {
    if (String(params.source).length > MAX_DOCUMENT_LENGTH) {
      throw refused('TOO_COMPLEX', `A document has at most ${MAX_DOCUMENT_LENGTH} characters: use variables.`)
    }
    setParseFn(parseDocument)
  },
}

function parseDocument(text: string): DocumentNode {
  if (/\0|\\u(?:0000|\{0+\})/.test(text)) throw refused(NUL.code, NUL.message)
  try {
    if (!isTooDeep(text)) return parse(text, { maxTokens: MAX_TOKENS })
  } catch (error) {
    throw error instanceof GraphQLError ? syntaxError(error) : error
  }
  throw refused('TOO_COMPLEX', `A document is nested at most ${MAX_NESTING} levels deep: use variables.`)
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

const refused = (code: FailureCode, message: string): GraphQLError => failure(code, message, { http: { status: 400 } })

/** 400, but 200 for clients that accept only `application/json`: so says GraphQL over HTTP. */
function syntaxError(error: GraphQLError): GraphQLError {
  Object.assign(error.extensions, { code: 'GRAPHQL_PARSE_FAILED', http: { spec: true, status: 400 } })
  return error
}
