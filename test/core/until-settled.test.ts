import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { untilSettled } from '../../src/core/until-settled.ts'

test('a failure is thrown once nothing runs any more', async () => {
  let ended = false
  const slow = pause(20).then(() => {
    ended = true
  })
  await expect(untilSettled([slow, Promise.reject(new Error('first')), 1])).rejects.toThrow('first')
  expect(ended).toBe(true)
  expect(await untilSettled([Promise.resolve('a'), 2])).toEqual(['a', 2])
})
