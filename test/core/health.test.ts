import { expect, test } from 'vitest'
import {
  type DatabaseFacts,
  FirstInLine,
  HEALTH_BOUNDS,
  type HealthFacts,
  judgeHealth,
  QueueWatch,
} from '../../src/core/health.ts'

const HEALTHY = { schemaProblem: null, isReadOnly: false, isLogBehind: false, unnumberedMs: 0, overdueMs: 0 }
const FINE: HealthFacts = {
  database: HEALTHY,
  shortage: null,
  poolWaitMs: 0,
  clockAgeMs: 0,
  engine: { lookedAgoMs: 0, workedAgoMs: 0 },
}
const database = (changed: Partial<DatabaseFacts>): Partial<HealthFacts> => ({
  database: { ...HEALTHY, ...changed },
})
const failed = (changed: Partial<HealthFacts>) =>
  judgeHealth({ ...FINE, ...changed })
    .filter(({ ok }) => !ok)
    .map(({ name, reason }) => `${name}: ${reason}`)

test('each check has a name, also while it is fine', () => {
  expect(judgeHealth(FINE).map(({ name }) => name)).toEqual([
    ...['database', 'schema', 'writable', 'numberer', 'pool', 'engine', 'clock'],
  ])
  expect(judgeHealth({ ...FINE, engine: null }).map(({ name }) => name)).not.toContain('engine')
  expect(failed({})).toEqual([])
})

const { poolWait, unnumbered, engine, clockAge } = HEALTH_BOUNDS
test.each<[Partial<HealthFacts>, string]>([
  [{ database: null }, 'database: the database does not answer'],
  [database({ schemaProblem: 'start a newer version' }), 'schema: start a newer version'],
  [database({ isLogBehind: true }), 'writable: a sequence of the database is behind its table'],
  [database({ isReadOnly: true }), 'writable: the database takes no writes: it is a standby, or set to read only'],
  [{ shortage: 'the database has no space left' }, 'writable: the database has no space left'],
  [{ poolWaitMs: poolWait + 1 }, 'pool: requests have waited for 5 s for a connection'],
  [database({ unnumberedMs: unnumbered + 1 }), 'numberer: changes have waited for 10 s for their numbers'],
  [{ engine: { lookedAgoMs: engine + 1, workedAgoMs: 0 } }, 'engine: the engine has not looked for due trees for 30 s'],
  [
    { ...database({ overdueMs: 99_000 }), engine: { lookedAgoMs: 0, workedAgoMs: engine + 1 } },
    'engine: trees have been due for 99 s, and the engine finishes with none',
  ],
  [{ clockAgeMs: clockAge + 1 }, 'clock: the time of the database was read 60 s ago'],
])('not ready: %j', (changed, reason) => {
  expect(failed(changed)).toEqual([reason])
})

test('ready up to the bounds; a tree that alone is overdue is not the fault of an engine that works, nor is a lack of work', () => {
  expect(failed({ poolWaitMs: poolWait, clockAgeMs: clockAge, ...database({ unnumberedMs: unnumbered }) })).toEqual([])
  expect(failed(database({ overdueMs: 3_600_000 }))).toEqual([])
  expect(failed({ engine: { lookedAgoMs: engine, workedAgoMs: 3_600_000 } })).toEqual([])
})

test('a database that could not be asked, since the pool is exhausted, is not said to be silent', () => {
  expect(failed({ database: 'NOT_ASKED' })).toEqual([])
  expect(failed({ database: 'NOT_ASKED', poolWaitMs: poolWait + 1 })).toEqual([
    'pool: requests have waited for 5 s for a connection',
  ])
})

test('a queue that moves is told from one that stands, however long it is', () => {
  const watch = new QueueWatch()
  expect(watch.look({ at: 0, waiting: 5, served: 100 })).toBe(0)
  // All five were served, and others wait.
  expect(watch.look({ at: 10_000, waiting: 5, served: 105 })).toBe(0)
  // Four of the next five were.
  expect(watch.look({ at: 20_000, waiting: 9, served: 109 })).toBe(10_000)
  expect(watch.look({ at: 21_000, waiting: 8, served: 110 })).toBe(1_000)
  expect(watch.look({ at: 30_000, waiting: 0, served: 110 })).toBe(0)
  for (let at = 40_000; at <= 400_000; at += 1_000) watch.look({ at, waiting: at, served: 110 })
  expect(watch.look({ at: 400_000, waiting: 1, served: 110 })).toBe(360_000)
})

test('a line whose first changes moves', () => {
  const line = new FirstInLine()
  expect(line.look(7, 0)).toBe(0)
  expect(line.look(7, 9_000)).toBe(9_000)
  expect(line.look(8, 10_000)).toBe(0)
  expect(line.look(null, 11_000)).toBe(0)
  expect(line.look(8, 20_000)).toBe(0)
})
