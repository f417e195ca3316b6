import { expect, test } from 'vitest'
import { countFurther } from '../../src/client-model/index.ts'

test('the entries beyond those that were read are counted, as far as a few pages tell', async () => {
  const count = (pages: readonly number[]) => {
    const load = async (from: string) => {
      const page = Number(from)
      return { count: pages[page] ?? 0, next: page + 1 < pages.length ? String(page + 1) : null }
    }
    return countFurther('0', load)
  }
  expect(await count([0])).toEqual({ count: 0, isAll: true })
  expect(await count([500, 0, 20])).toEqual({ count: 520, isAll: true })
  expect(await count([500, 500, 500, 500])).toEqual({ count: 2_000, isAll: true })
  expect(await count([500, 500, 500, 500, 1])).toEqual({ count: 2_000, isAll: false })
})
