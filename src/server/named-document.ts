import { GraphQLError } from 'graphql'
import type { RefusedRequest, SentRequest } from './read-request.ts'
import type { TrustedDocuments } from './trusted-documents.ts'

/** Puts the text of the document into a request that only names it. */
export function withDocument(sent: SentRequest, trusted: TrustedDocuments): SentRequest | RefusedRequest {
  try {
    return sent.body === null ? ofParams(sent, trusted) : ofBody(sent, sent.body, trusted)
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error
    return { ok: false, status: 400, code: 'PERSISTED_QUERY_NOT_FOUND', message: error.message }
  }
}

function ofBody(sent: SentRequest, body: string, trusted: TrustedDocuments): SentRequest {
  if (!/"(?:documentId|persistedQuery)"/.test(body)) return sent
  const request = parse(body)
  const query = request && trusted.textOf(request)
  if (!query) return sent
  const { documentId: _, ...others } = request
  return { ...sent, body: JSON.stringify({ ...others, query }) }
}

function ofParams(sent: SentRequest, trusted: TrustedDocuments): SentRequest {
  const { params } = sent
  const named = { query: params.get('query'), documentId: params.get('documentId') }
  const query = trusted.textOf({ ...named, extensions: parse(params.get('extensions') ?? 'null') })
  if (query === null) return sent
  const others = new URLSearchParams([...params].filter(([name]) => name !== 'documentId' && name !== 'query'))
  others.set('query', query)
  return { ...sent, params: others }
}

/** Null for what is no object; yoga says so. */
function parse(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' ? (value as Readonly<Record<string, unknown>> | null) : null
  } catch {
    return null
  }
}
