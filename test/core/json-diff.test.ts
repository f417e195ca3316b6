import { expect, test } from 'vitest'
import { diffJson } from '../../src/core/json-diff.ts'

const paths = (before: unknown, after: unknown, max = 100) =>
  diffJson(before, after, max).differences.map(({ path, change }) => `${change} ${path.join('.')}`)

test('members and entries of lists are compared by their names, otherwise by their places', () => {
  const before = { items: [{ name: 'a', n: 1 }, { name: 'b' }], list: [1, 2], same: { x: [1] }, gone: null }
  const after = { items: [{ name: 'c' }, { name: 'a', n: 2 }], list: [1, 3, 4], same: { x: [1] } }
  expect(paths(before, after)).toEqual([
    'CHANGED items.a.n',
    'REMOVED items.b',
    'ADDED items.c',
    'CHANGED list.1',
    'ADDED list.2',
    'REMOVED gone',
  ])
  expect(paths([{ name: 'a' }, { name: 'a' }], [{ name: 'a' }])).toEqual(['REMOVED 1'])
  expect(paths([], [{ name: 'a' }])).toEqual(['ADDED a'])
  expect(paths({ a: [] }, { a: {} })).toEqual(['CHANGED a'])
  expect(paths({ a: null }, { a: {} })).toEqual(['CHANGED a'])
})

test('a missing value is not null, and the same is no difference', () => {
  expect(paths({ a: null }, { a: null })).toEqual([])
  expect(diffJson(undefined, { a: 1 }, 10)).toEqual({
    differences: [{ path: [], change: 'ADDED', before: undefined, after: { a: 1 } }],
    truncated: false,
  })
})

test('at most so many differences are found, and it is said when there are more', () => {
  const many = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`m${i}`, i]))
  expect(diffJson({}, many, 20)).toMatchObject({ truncated: false, differences: { length: 20 } })
  expect(diffJson({}, many, 19)).toMatchObject({ truncated: true, differences: { length: 19 } })
})
