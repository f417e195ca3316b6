import fc from 'fast-check'
import { expect, test } from 'vitest'
import { jsonLength } from '../../src/core/json.ts'

test('the length of JSON is about that of its text', () => {
  fc.assert(
    fc.property(fc.jsonValue({ noUnicodeString: true, stringUnit: fc.constantFrom('a', 'ä') }), (value) => {
      const length = jsonLength(value, Number.POSITIVE_INFINITY)
      const text = JSON.stringify(value).length
      expect(length).toBeGreaterThanOrEqual(text / 5)
      expect(length).toBeLessThanOrEqual(text * 7)
    }),
  )
})

test('it is counted no further than needed', () => {
  const huge = new Proxy(
    Array.from({ length: 1_000_000 }, () => 'x'.repeat(10)),
    {
      get(array, key) {
        if (Number(key) > 100) throw new Error('read too far')
        return Reflect.get(array, key)
      },
    },
  )
  expect(jsonLength({ huge }, 1_000)).toBeGreaterThan(1_000)
})
