import { createHash } from 'node:crypto'
import type { Plugin } from 'graphql-yoga'
import { failure } from '../graphql/schema/failures.ts'
import type { Refusals } from './refusals.ts'

export interface TrustedDocumentsOptions {
  /** Texts that may also be asked for by their SHA-256. */
  readonly texts: readonly string[]
  /** SHA-256 of further ones, in hexadecimal. */
  readonly hashes: readonly string[]
  /** Whether all others are refused. */
  readonly isRequired: boolean
}

/** What a request says instead of a document, or beside it. */
interface NamedDocument {
  readonly query?: unknown
  readonly documentId?: unknown
  readonly extensions?: unknown
}

/** Documents that the operator knows, by their SHA-256. */
export class TrustedDocuments {
  readonly isRequired: boolean
  readonly #texts: ReadonlyMap<string, string>
  readonly #hashes: ReadonlySet<string>

  constructor({ texts, hashes, isRequired }: TrustedDocumentsOptions) {
    this.isRequired = isRequired
    this.#texts = new Map(texts.map((text) => [documentHash(text), text]))
    this.#hashes = new Set([...hashes, ...this.#texts.keys()])
  }

  isTrusted(text: string): boolean {
    return this.#hashes.has(documentHash(text))
  }

  /**
   * The text of a request that only names its document: `documentId`, or `extensions.persistedQuery`. Null: it brings its own,
   * or none.
   * @throws PERSISTED_QUERY_NOT_FOUND
   */
  textOf(request: NamedDocument): string | null {
    if (typeof request.query === 'string' && request.query !== '') return null
    const hash = hashIn(request)
    if (hash === null) return null
    const text = this.#texts.get(hash)
    if (text !== undefined) return text
    throw failure('PERSISTED_QUERY_NOT_FOUND', 'The server knows no document of this id: send its text.', BAD_REQUEST)
  }
}

const BAD_REQUEST = { http: { status: 400 } }

export const documentHash = (text: string): string => createHash('sha256').update(text).digest('hex')

function hashIn({ documentId, extensions }: NamedDocument): string | null {
  const { persistedQuery } = (extensions ?? {}) as { readonly persistedQuery?: { readonly sha256Hash?: unknown } }
  const named = typeof documentId === 'string' ? documentId : persistedQuery?.sha256Hash
  return typeof named === 'string' ? named.replace(/^sha256:/, '').toLowerCase() : null
}

/** Runs trusted documents only, however they are sent. */
export const requireTrusted = (trusted: TrustedDocuments, refusals: Refusals): Plugin => ({
  onParse({ params }) {
    if (!trusted.isRequired || trusted.isTrusted(String(params.source))) return
    refusals.count('DOCUMENT_NOT_TRUSTED')
    throw failure('DOCUMENT_NOT_TRUSTED', 'This server runs only documents that its operator knows.', BAD_REQUEST)
  },
})
