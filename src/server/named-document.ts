import { GraphQLError } from 'graphql'
import type { RefusedRequest, SentRequest } from './read-request.ts'
import type { TrustedDocuments } from './trusted-documents.ts'

/** Puts the text of the document into a request that only names it. */
export function withDocument(sent: SentRequest, trusted: TrustedDocuments): SentRequest | RefusedRequest {
  try {
    const query = trusted.textOf(sent.request)
    if (query === null) return sent
    const { documentId: _, ...others } = sent.request
    return { ok: true, request: { ...others, query } }
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error
    return { ok: false, status: 400, code: 'PERSISTED_QUERY_NOT_FOUND', message: error.message }
  }
}
