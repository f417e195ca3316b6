import { expect, test } from 'vitest'
import { judgeRange, judgeStart } from '../../src/core/schema-range.ts'

const OWN = ['1', '2', '3']

test.each([
  ['its own schema', ['1', '2', '3'], '1', null],
  ['an older one', ['1'], '1', null],
  ['one from before there were ranges', ['1'], null, null],
  ['a newer one that has only added', ['1', '2', '3', '4', '5'], '3', null],
  ['one in which a change came in before its last', ['1', '2', '2a', '3'], '2', null],
  [
    'a newer one that has taken away',
    ['1', '2', '3', '4', '5'],
    '4',
    /^a newer version .* to 5, .* from the schema 4 on/,
  ],
  [
    'a newer one that states nothing',
    ['1', '2', '3', '4'],
    null,
    /the migration 4, .* newer version\. Start that one$/,
  ],
  ['one of another line', ['1', '2', '4'], '1', /the migration 4, .* lacks 3, .* neither older nor newer/],
])('a start on %s', (_, applied, oldest, expected) => {
  const problem = judgeStart(OWN, { applied, oldest })
  if (expected === null) expect(problem).toBeNull()
  else expect(problem).toMatch(expected)
})

test('a process that runs works on until what it knows is not enough', () => {
  expect(judgeRange(OWN, { newest: '9', oldest: '3' })).toBeNull()
  expect(judgeRange(OWN, { newest: null, oldest: null })).toBeNull()
  expect(judgeRange(OWN, { newest: '9', oldest: '4' })).toMatch(/start a newer version, or restore the backup/)
})
