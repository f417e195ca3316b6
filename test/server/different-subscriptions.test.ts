import { expect, test } from 'vitest'
import { DifferentSubscriptions } from '../../src/server/limits/different-subscriptions.ts'

test('equal subscriptions count once, and each place has a bound of its own', () => {
  const open = new DifferentSubscriptions()
  const at = (place: string, key: string) => open.open(place, key, 2)
  expect([at('', 'a'), at('', 'b'), at('', 'a'), at('', 'c')]).toEqual([true, true, true, false])
  expect([at('tree', 'c'), at('tree', 'd'), at('tree', 'e')]).toEqual([true, true, false])
  expect(open.size).toBe(4)
})

test('one that ends makes room once all equal ones have ended', () => {
  const open = new DifferentSubscriptions()
  const at = (key: string) => open.open('', key, 1)
  expect([at('a'), at('a')]).toEqual([true, true])
  open.close('', 'a')
  expect([open.size, at('b')]).toEqual([1, false])
  open.close('', 'a')
  expect([open.size, at('b')]).toEqual([0, true])
})
