import type { DocumentNode } from 'graphql'
import type { Plugin } from 'graphql-yoga'
import { LRUCache } from 'lru-cache'

const MIB = 1_024 * 1_024
/** Measured: the nodes of the parser, with their places in the text. */
const BYTES_OF_A_TOKEN = 450
/** Measured: an error of the parser or of validation, with its places. */
const BYTES_OF_AN_ERROR = 1_500

/** Measured: fields take longest, some of which have no more than a dozen. */
const CHARACTERS_OF_A_REQUEST = 64

const sizeOf = ({ tokenCount = 0 }: DocumentNode, text: string): number =>
  2 * text.length + BYTES_OF_A_TOKEN * tokenCount

/**
 * Keeps parsed documents by the memory that they take: as many as clients of ours have, and none that is large for the sake
 * of being large. Errors are kept for a moment: yoga answers what the fast path has refused, and takes the same error.
 */
export function createDocumentCache() {
  const documentCache = new LRUCache<string, DocumentNode>({
    maxSize: 64 * MIB,
    maxEntrySize: MIB,
    sizeCalculation: sizeOf,
  })
  const errorCache = new LRUCache<string, Error>({
    maxSize: 8 * MIB,
    sizeCalculation: (_, text) => 2 * text.length + BYTES_OF_AN_ERROR,
  })
  /** The cost of parsing and validating a document, in requests. */
  const costOf = (text: string): number =>
    documentCache.has(text) || errorCache.has(text) ? 0 : Math.floor(text.length / CHARACTERS_OF_A_REQUEST)
  return { documentCache, errorCache, costOf }
}
export type DocumentCache = ReturnType<typeof createDocumentCache>

/** Counts what validation finds as a part of its document, since yoga keeps both for the same time. */
export const countErrors = ({ documentCache }: Pick<DocumentCache, 'documentCache'>): Plugin => ({
  onValidate({ validateFn, setValidationFn }) {
    setValidationFn(((schema, document, ...rest) => {
      const errors = validateFn(schema, document, ...rest)
      const text = document.loc?.source.body ?? ''
      if (errors.length > 0 && documentCache.delete(text))
        documentCache.set(text, document, { size: sizeOf(document, text) + errors.length * BYTES_OF_AN_ERROR })
      return errors
    }) as typeof validateFn)
  },
})
