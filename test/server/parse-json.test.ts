import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseJson } from '../../src/server/json/parse-json.ts'
import { JsonScanner } from '../../src/server/json/request-text.ts'

/** Bytes of a piece, so small that texts of a few lines have many. */
const PIECE = 8

/** The text arrives in chunks of this many bytes. */
async function parse(text: string, chunk = 5): Promise<unknown> {
  const bytes = Buffer.from(text)
  const scanner = new JsonScanner(100_000, PIECE)
  for (let i = 0; i < bytes.length; i += chunk) expect(scanner.scan(bytes.subarray(i, i + chunk))).toBeNull()
  return await parseJson(bytes, scanner.large, () => undefined, PIECE)
}
const native = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return 'no JSON'
  }
}
const parsed = (text: string) => parse(text).catch(() => 'no JSON')

const values = fc.jsonValue({ maxDepth: 6, depthSize: 'large' })
/** A text as clients may escape it. */
const escapedTexts = fc
  .array(fc.constantFrom('a', 'é', '汉', '😀', '\\n', '\\\\', '\\"', '\\u00e9', '\\ud83d\\ude00', '\\udc00'), {
    maxLength: 60,
  })
  .map((parts) => `"${parts.join('')}"`)

test('any JSON is parsed in pieces to what it is', async () => {
  await fc.assert(
    fc.asyncProperty(values, fc.constantFrom(undefined, 1, '\t'), async (value, indent) => {
      const text = JSON.stringify(value, null, indent)
      expect(await parse(text)).toEqual(JSON.parse(text))
    }),
    { numRuns: 500 },
  )
})

test('any text is parsed in pieces to what it is, however it is escaped', async () => {
  await fc.assert(
    fc.asyncProperty(escapedTexts, escapedTexts, fc.integer({ min: 1, max: 20 }), async (key, value, chunk) => {
      const text = `{${key} : ${value},"list":[${value}, ${value} ]}`
      expect(await parse(text, chunk)).toEqual(JSON.parse(text))
    }),
    { numRuns: 500 },
  )
})

test('what is no JSON as a whole is none in pieces', async () => {
  const noise = fc.constantFrom(...'[]{},:"\\ 1u\n')
  await fc.assert(
    fc.asyncProperty(values, fc.nat(), noise, fc.boolean(), async (value, at, byte, replaces) => {
      const text = JSON.stringify(value, null, 1)
      const i = at % (text.length + 1)
      const broken = text.slice(0, i) + byte + text.slice(replaces ? i + 1 : i)
      expect(await parsed(broken)).toEqual(native(broken))
    }),
    { numRuns: 2_000 },
  )
})

const LONG = `[${'1,'.repeat(20)}1]`
test.each([
  `[${LONG},]`,
  `[,${LONG}]`,
  `[${LONG}${LONG}]`,
  `[${LONG} 1]`,
  `[1 ${LONG}]`,
  `[${LONG}`,
  `${LONG}]`,
  `${LONG} x`,
  `{"a":${LONG},}`,
  `{"a" ${LONG}}`,
  `{"a":${LONG}:1}`,
  `{"a","b":${LONG}}`,
  `{${LONG}}`,
  `[${LONG.slice(0, -1)}}]`,
  `[${' '.repeat(40)}]`,
  `{"a":${' '.repeat(40)}}`,
  `[${' '.repeat(40)},1]`,
  `{"a":1,"__proto__":{"b":${LONG}},"a":${LONG}}`,
  `{"__proto__":1,"x":${LONG}}`,
])('%s', async (text) => {
  const expected = native(text)
  const found = await parsed(text)
  expect(found).toEqual(expected)
  expect(JSON.stringify(found)).toBe(JSON.stringify(expected))
})

test.each([
  ['a list', JSON.stringify(Array.from({ length: 1_000 }, (_, i) => i))],
  ['a text', JSON.stringify('x'.repeat(2_000))],
  ['an escaped text', JSON.stringify('\n'.repeat(2_000))],
])('others have their turn after each piece of %s', async (_, text) => {
  const bytes = Buffer.from(text)
  const scanner = new JsonScanner(10_000, PIECE)
  scanner.scan(bytes)
  let turns = 0
  const turn = () => {
    turns += 1
    return undefined
  }
  await parseJson(bytes, scanner.large, turn, PIECE)
  expect(turns).toBeGreaterThan(200)
})
