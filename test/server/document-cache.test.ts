import { parse } from 'graphql'
import { expect, test } from 'vitest'
import { createDocumentCache } from '../../src/server/operation/document-cache.ts'

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
