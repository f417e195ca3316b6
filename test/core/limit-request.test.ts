import { expect, test } from 'vitest'
import { limitBlockers } from '../../src/core/blocker.ts'
import { Problems } from '../../src/core/problems.ts'
import { normaliseLimits, resolveLimits, without } from '../../src/families/limit-requests.ts'

const now = new Date('2026-11-30T12:00:00.000Z')
const ticket = {
  ...{ limit: 'hosts', key: 'a', max: 3, maxPerKey: 2, held: 0, heldOfKey: 0, position: 1, holders: [] },
  ...{ isPaused: false, isDebounced: false, rateCount: null, rateMs: null, expectedAt: null },
}

test.each([
  [{}, null],
  [{ position: 2 }, null],
  [{ position: 3 }, 'key'],
  [{ heldOfKey: 2, held: 2 }, 'key'],
  [{ heldOfKey: 0, held: 3 }, 'all'],
  [{ heldOfKey: 1, held: 2 }, null],
  [{ max: null, held: 99 }, null],
  [{ maxPerKey: null, heldOfKey: 2, held: 2 }, null],
  [{ maxPerKey: null, heldOfKey: 3, held: 3 }, 'all'],
] as const)('%o is kept waiting by the bound of %s', (more, bound) => {
  const [blocker] = limitBlockers([{ ...ticket, ...more }], now)
  expect(blocker ? (blocker.message.includes('with the key') ? 'key' : 'all') : null).toBe(bound)
})

test('a blocker names the limits that are used up alone, with the holders of the bound', () => {
  const holders = [
    { objectId: '1', key: 'a' },
    { objectId: '2', key: 'b' },
  ]
  const full = {
    ...ticket,
    key: '',
    holders: [{ objectId: '1', key: '' }, ...holders],
    heldOfKey: 2,
    held: 3,
    position: 4,
  }
  expect(limitBlockers([{ ...ticket, holders }, full], now)).toEqual([
    {
      ...{ reason: 'LIMIT', limit: 'hosts', key: '', position: 4, holderCount: 2, holderIds: ['1'] },
      expectedAt: null,
      message: 'The limit hosts is used by 2 of 2 with the key "". 3 of its key come before it.',
    },
  ])
  expect(limitBlockers([{ ...ticket, holders, held: 3 }], now)).toMatchObject([
    { holderIds: ['1', '2'], message: 'The limit hosts is used by 3 of 3. It is the next one of its key.' },
  ])
})

test('a blocker says when a rate lets it start, and that a limit is paused', () => {
  const rated = { ...ticket, rateCount: 2, rateMs: 60_000, expectedAt: new Date('2026-11-30T12:00:59.000Z') }
  const [today] = limitBlockers([rated], now)
  expect(today?.message).toBe(
    'The limit hosts lets 2 start in 1m with the key a. It is the next one of its key. It starts at 12:00:59 UTC at the earliest.',
  )
  const [later] = limitBlockers([{ ...rated, expectedAt: new Date('2026-12-01T00:00:01.000Z') }], now)
  expect(later?.message).toContain('It starts at 2026-12-01 00:00:01 UTC at the earliest.')
  expect(limitBlockers([{ ...rated, rateCount: null, isDebounced: true }], now)[0]?.message).toBe(
    'The limit hosts waits for newer ones with the key a. It is the next one of its key. It starts at 12:00:59 UTC at the earliest.',
  )
  expect(limitBlockers([{ ...ticket, isPaused: true }], now)).toMatchObject([
    { message: 'The limit hosts is paused. It is the next one of its key.' },
  ])
})

test('who holds a limit does not ask for it again, with the same key', () => {
  const asked = [
    { limit: 'a', key: 'x' },
    { limit: 'a', key: 'y' },
  ]
  expect(without(asked, [{ limit: 'a', key: 'x' }])).toEqual([{ limit: 'a', key: 'y' }])
  expect(without(asked, [{ limit: 'b', key: 'x' }])).toEqual(asked)
})

test('keys are texts, each request once', () => {
  const limits = ['${a}', '${b}', '${c}', ''].map((key) => ({ limit: 'a', key }))
  expect(resolveLimits(limits, () => ({ ok: true, value: ['x', 7, 'x', null] }))).toEqual({
    ok: true,
    requests: [
      { limit: 'a', key: 'x' },
      { limit: 'a', key: '7' },
      { limit: 'a', key: '' },
    ],
  })
  expect(resolveLimits(limits, () => ({ ok: true, value: ['x'.repeat(256)] }))).toEqual({
    ok: false,
    message: 'The key of the limit a has more than 255 characters.',
  })
})

test('an input is refused with its paths', () => {
  const problems = new Problems()
  const input = [{ limit: 'a' }, { limit: 'a', key: '' }, { limit: 'not a name' }, { limit: 'b', key: '\0' }]
  normaliseLimits(input, 'input.limits', problems)
  expect(problems.found.map(({ path }) => path)).toEqual([
    'input.limits.1',
    'input.limits.2.limit',
    'input.limits.3.key',
  ])
})
