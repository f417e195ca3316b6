import { createHash } from 'node:crypto'
import type { Plugin } from 'graphql-yoga'
import { failure } from '../../graphql/schema/failures.ts'

export interface TrustedDocumentsOptions {
  /** Texts that clients may also request by their SHA-256. */
  readonly texts: readonly string[]
  /** SHA-256 of further ones, in hexadecimal. */
  readonly hashes: readonly string[]
  /** True if all other documents are refused. */
  readonly isRequired: boolean
}

/** The parts of a request that name a document instead of, or beside, sending it. */
export interface NamedDocument {
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
   * @throws PERSISTED_QUERY_NOT_FOUND, PERSISTED_QUERY_NOT_SUPPORTED
   */
  textOf({ query, documentId, extensions }: NamedDocument): string | null {
    if (typeof query === 'string' && query !== '') return null
    const { persistedQuery } = (extensions ?? {}) as { readonly persistedQuery?: { readonly sha256Hash?: unknown } }
    const hash = typeof documentId === 'string' ? documentId : persistedQuery?.sha256Hash
    const text = typeof hash === 'string' ? this.#texts.get(hash.replace(/^sha256:/, '').toLowerCase()) : undefined
    if (text !== undefined) return text
    if (typeof documentId === 'string') throw failure('PERSISTED_QUERY_NOT_FOUND', NOT_FOUND)
    if (persistedQuery) throw failure('PERSISTED_QUERY_NOT_SUPPORTED', NOT_SUPPORTED)
    return null
  }
}

const NOT_FOUND = 'The server knows no document of this id: send its text.'
/** By this very message clients learn that the server takes no documents to keep: from then on they send the text at once. */
const NOT_SUPPORTED = 'PersistedQueryNotSupported'

export const documentHash = (text: string): string => createHash('sha256').update(text).digest('hex')

/** Runs trusted documents only, however they are sent. */
export const requireTrusted = (trusted: TrustedDocuments): Plugin => ({
  onParse({ params }) {
    if (trusted.isRequired && !trusted.isTrusted(String(params.source)))
      throw failure('DOCUMENT_NOT_TRUSTED', 'This server runs only documents that its operator knows.')
  },
})
