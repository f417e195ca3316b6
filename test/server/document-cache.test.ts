import { buildSchema, parse } from 'graphql'
import { expect, test } from 'vitest'
import { createDocumentCache } from '../../src/server/operation/document-cache.ts'
import { TrustedDocuments } from '../../src/server/operation/trusted-documents.ts'
import { createGraphQL } from '../../src/server/operation/yoga.ts'

test('parsed documents are kept by the memory that they take', () => {
  const { documentCache } = createDocumentCache()
  const textOf = (name: string, fields: number): string => `{ ${name}${' a'.repeat(fields)} }`
  const keep = (text: string) => void documentCache.set(text, parse(text))
  const large = textOf('large', 9_000)
  keep(large)
  expect(documentCache.get(large)).toBeUndefined()
  for (let i = 0; i < 300; i++) keep(textOf(`document${i}`, 1_000))
  expect(documentCache.get(textOf('document0', 1_000))).toBeUndefined()
  expect(documentCache.get(textOf('document299', 1_000))).toBeDefined()
  expect(documentCache.size).toBeLessThan(150)
})

test('errors of documents count as a part of what is kept', () => {
  const documents = createDocumentCache()
  const schema = buildSchema('type Query { a: Int }')
  const yoga = createGraphQL(schema, {} as never, {
    documents,
    bounds: { limits: {}, refusals: {} } as never,
    trusted: new TrustedDocuments({ texts: [], hashes: [], isRequired: false }),
    disclosure: { introspection: true, suggestions: true },
    executed: () => {},
  })
  const errorsOf = (text: string): number => {
    const { parse, validate } = yoga.getEnveloped({ viewer: {} as never })
    return validate(schema, parse(text)).length
  }
  const textOf = (n: number): string => `{ ${Array.from({ length: 100 }, (_, i) => `x${n}x${i}`).join(' ')} }`
  for (let n = 0; n < 500; n++) expect(errorsOf(textOf(n))).toBe(100)
  // A hundred errors take 150 kB, three times as much as their document.
  expect(documents.documentCache.size).toBeLessThan(350)
  expect(documents.documentCache.has(textOf(499))).toBe(true)
  expect(errorsOf(textOf(499))).toBe(100)
})
