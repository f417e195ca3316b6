import fc from 'fast-check'
import { GraphQLError } from 'graphql'
import { expect, test } from 'vitest'
import { jsonPieces } from '../../src/server/json/json-pieces.ts'

const PIECE = 8
const text = async (value: unknown): Promise<string> =>
  Buffer.concat(await jsonPieces(value, () => undefined, PIECE)).toString()

test('JSON made in pieces is that made at once', async () => {
  const value = fc.jsonValue({ maxDepth: 4, stringUnit: 'binary' })
  await fc.assert(
    fc.asyncProperty(value, async (any) => {
      expect(await text(any)).toBe(JSON.stringify(any))
    }),
    { numRuns: 300 },
  )
})

const LONG = 'abcdefghijklmnopqrstuvwxyz'
test.each([
  ['quotes and backslashes', `"\\${'"\\'.repeat(50)}`],
  ['characters of two halves', '😀'.repeat(50)],
  ['the same, shifted', `x${'😀'.repeat(50)}`],
  ['halves of characters', '\ud83d'.repeat(50)],
  ['control characters', `${LONG}\u0000\n${LONG}`],
  ['what is undefined', { a: undefined, b: [undefined, LONG], c: LONG, d: undefined }],
  ['objects without members', { a: {}, b: [], c: { d: undefined, e: undefined }, f: LONG }],
  ['errors', { data: null, errors: [new GraphQLError(LONG, { extensions: { code: LONG } })] }],
])('%s', async (_, value) => {
  expect(JSON.parse(await text(value))).toEqual(JSON.parse(JSON.stringify(value)))
})

test('others have their turn after each piece', async () => {
  let turns = 0
  const turn = () => {
    turns += 1
    return undefined
  }
  const pieces = await jsonPieces([LONG.repeat(100), { a: LONG }], turn, PIECE)
  expect(turns).toBeGreaterThan(300)
  expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(6 * PIECE)
})
