import { expect, test } from 'vitest'
import { type ListedAttempt, missedDeliveries } from '../../src/hooks/rules/missed-deliveries.ts'

const NOW = new Date('2026-11-27T12:00:00Z')
const attempt = (id: number, guid: string, status: number, hoursAgo = 1): ListedAttempt => ({
  ...{ id, guid, status, deliveredAt: new Date(NOW.getTime() - hoursAgo * 3_600_000) },
})
const missed = (...listed: readonly ListedAttempt[]) => missedDeliveries(listed, NOW).map(({ id }) => id)

test('deliveries are asked for that nobody has answered, by their last attempt, the oldest delivery first', () => {
  expect(
    missed(
      attempt(9, 'twice', 503, 1),
      attempt(8, 'away', 0, 2),
      attempt(7, 'arrived', 200, 3),
      attempt(6, 'twice', 0, 4),
      attempt(5, 'arrived', 0, 5),
      attempt(4, 'busy', 429, 6),
    ),
  ).toEqual([4, 9, 8])
})

test('a delivery that was refused would be refused again, and one that fails for ever or is too old is left alone', () => {
  expect(
    missed(attempt(1, 'refused', 422), attempt(2, 'secret', 401), attempt(3, 'mixed', 0), attempt(4, 'mixed', 403)),
  ).toEqual([])
  expect(missed(...[1, 2, 3, 4, 5].map((id) => attempt(id, 'never', 500)))).toEqual([])
  expect(missed(...[1, 2, 3, 4].map((id) => attempt(id, 'never', 500, 10 - id)))).toEqual([4])
  expect(missed(attempt(1, 'old', 0, 73), attempt(2, 'young', 0, 71))).toEqual([2])
  expect(missed(...Array.from({ length: 300 }, (_, i) => attempt(i, `d${i}`, 0, 40 - i / 10)))).toHaveLength(100)
})
