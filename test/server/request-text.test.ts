import fc from 'fast-check'
import { expect, test } from 'vitest'
import { LIMITS } from '../../src/core/limits.ts'
import { JsonScanner, jsonProblem, MAX_NESTING, MAX_TEXT } from '../../src/server/json/request-text.ts'

const nested = (depth: number, inner = '1'): string => `${'['.repeat(depth)}${inner}${']'.repeat(depth)}`
const FILLER = `"${'x'.repeat(1_000)}"`

test.each([
  ['depth', nested(MAX_NESTING, FILLER), null],
  ['more depth', nested(MAX_NESTING + 1, FILLER), 'TOO_COMPLEX'],
  ['depth of objects', `${'{"a":'.repeat(MAX_NESTING + 1)}1${'}'.repeat(MAX_NESTING + 1)}`, 'TOO_COMPLEX'],
  ['brackets in a text', JSON.stringify('[{'.repeat(1_000)), null],
  ['brackets after an escaped quote', JSON.stringify(`"${'[{'.repeat(1_000)}`), null],
  ['brackets after a text that ends in a backslash', `["\\\\",${nested(MAX_NESTING + 1, FILLER)}]`, 'TOO_COMPLEX'],
  ['many values', JSON.stringify(Array.from({ length: 999 }, () => 'value')), null],
  ['too many values', JSON.stringify(Array.from({ length: 1_001 }, () => 'value')), 'TOO_COMPLEX'],
  ['many keys', JSON.stringify(Object.fromEntries(Array.from({ length: 1_001 }, (_, i) => [i, i]))), 'TOO_COMPLEX'],
  ['commas in a text', JSON.stringify(','.repeat(2_000)), null],
  ['a long key', `{"${'k'.repeat(4_097)}" : 1}`, 'BAD_USER_INPUT'],
  ['a key that is as long as it may be', `{"${'k'.repeat(4_096)}" : 1}`, null],
  ['a long text before a colon in a text', JSON.stringify(['x'.repeat(5_000), ':']), null],
  ['a text that is as long as it may be', JSON.stringify(['x'.repeat(MAX_TEXT)]), null],
  ['a text that is as long as it may be, escaped', `["${'\\u00e9'.repeat(MAX_TEXT)}"]`, null],
  ['a text that is as long as it may be, of characters of two units', JSON.stringify('😀'.repeat(MAX_TEXT / 2)), null],
  ['a text that is too long', JSON.stringify(['x'.repeat(MAX_TEXT + 1)]), 'BAD_USER_INPUT'],
  ['a text that is too long, escaped', `["${'\\u00e9'.repeat(MAX_TEXT + 1)}"]`, 'BAD_USER_INPUT'],
  [
    'a text that is too long, of characters of three bytes',
    JSON.stringify('汉'.repeat(MAX_TEXT + 1)),
    'BAD_USER_INPUT',
  ],
  [
    'a text that is too long, of characters of two units',
    JSON.stringify(`😀${'😀'.repeat(MAX_TEXT / 2)}`),
    'BAD_USER_INPUT',
  ],
  ['a number that is too long', `[${'1'.repeat(70_000)}]`, 'BAD_USER_INPUT'],
  ['a space that is too long', `[1,${' '.repeat(70_000)}1]`, 'BAD_USER_INPUT'],
  ['a space after the end that is too long', `[1]${' '.repeat(70_000)}`, 'BAD_USER_INPUT'],
  ['a text that does not end', `["${'x'.repeat(1_000)}`, null],
])('%s', (_, text, code) => {
  expect(jsonProblem(text, 1_000)?.code ?? null).toBe(code)
})

test('no text is refused that an argument takes', () => {
  for (const { unit, max } of Object.values(LIMITS)) if (unit !== 'entries') expect(max).toBeLessThanOrEqual(MAX_TEXT)
})

test('any text has as many characters as the parser finds in it, in whatever pieces it comes', () => {
  const parts = fc.array(fc.constantFrom('a', 'é', '汉', '😀', '\\n', '\\\\', '\\"', '\\u00e9', '\\ud83d\\ude00'))
  fc.assert(
    fc.property(parts, fc.integer({ min: 1, max: 9 }), fc.constantFrom(0, 1), (part, size, more) => {
      const shown = part.join('')
      const text = `"${'x'.repeat(MAX_TEXT + more - JSON.parse(`"${shown}"`).length)}${shown}"`
      const bytes = Buffer.from(text)
      const scanner = new JsonScanner(1)
      const filler = bytes.length - Buffer.byteLength(shown) - 1
      let problem = scanner.scan(bytes.subarray(0, filler))
      for (let i = filler; i < bytes.length; i += size) problem ??= scanner.scan(bytes.subarray(i, i + size))
      expect(problem === null).toBe(more === 0)
    }),
    { numRuns: 30 },
  )
})

test('any JSON is judged by what it holds', () => {
  fc.assert(
    fc.property(fc.jsonValue({ depthSize: 'large', maxDepth: 12 }), (value) => {
      const text = JSON.stringify({ value, filler: 'x'.repeat(100) })
      expect(jsonProblem(text, 100_000)).toBeNull()
      expect(jsonProblem(text, countValues(value) * 2 + 5)).toBeNull()
      // As it comes in chunks.
      const [scanner, bytes] = [new JsonScanner(100_000), Buffer.from(text)]
      for (const byte of bytes) expect(scanner.scan(Buffer.of(byte))).toBeNull()
    }),
  )
})
const countValues = (value: unknown): number =>
  typeof value === 'object' && value !== null
    ? Object.values(value).reduce<number>((sum, inner) => sum + countValues(inner), 1)
    : 1

test('no text of a request takes long to judge', () => {
  const size = 1024 * 1024
  const texts = ['"', '\\', '\\u000', '[', '{"a":', ',', '\\"'].map((part) => `"${part.repeat(size / part.length)}`)
  const started = performance.now()
  for (const text of [...texts, ...texts.map((text) => text.slice(1))]) jsonProblem(text, Number.POSITIVE_INFINITY)
  // Anything but linear would take minutes.
  expect(performance.now() - started).toBeLessThan(60_000)
})
