import type { DocumentNode } from 'graphql'
import { LRUCache } from 'lru-cache'

const MIB = 1_024 * 1_024
/** Measured: the nodes of the parser, with their places in the text. */
const BYTES_OF_A_TOKEN = 450

const sizeOf = ({ tokenCount = 0 }: DocumentNode, text: string): number =>
  2 * text.length + BYTES_OF_A_TOKEN * tokenCount

/**
 * Keeps parsed documents by the memory that they take: as many as clients of ours have, and none that is large for the sake
 * of being large. Documents with a syntax error are not kept.
 */
export const createDocumentCache = () => ({
  documentCache: new LRUCache<string, DocumentNode>({
    maxSize: 64 * MIB,
    maxEntrySize: MIB,
    sizeCalculation: sizeOf,
  }),
  errorCache: { get: () => undefined, set: () => undefined },
})
