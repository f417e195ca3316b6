import { expect, test } from 'vitest'
import { TokenBucket } from '../../src/core/token-bucket.ts'

test('a bucket holds tokens for five seconds, and says when the next one is there', () => {
  const bucket = new TokenBucket(2, 0)
  expect(Array.from({ length: 11 }, () => bucket.take(0))).toEqual([...Array(10).fill(0), 500])
  expect([bucket.take(250), bucket.take(500), bucket.take(500)]).toEqual([250, 0, 500])
})

test('what is charged later is owed, and a clock that stands still gives nothing', () => {
  const bucket = new TokenBucket(2, 0)
  bucket.charge(20)
  expect(bucket.take(0)).toBe(5_500)
  expect(bucket.take(5_250)).toBe(250)
  expect(bucket.take(5_500)).toBe(0)
  // It never holds more than at first.
  expect(Array.from({ length: 11 }, () => bucket.take(1e9)).at(-1)).toBe(500)
})
