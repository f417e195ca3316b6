import { pino } from 'pino'
import { expect, test } from 'vitest'
import { type DatabaseClock, startDatabaseClock } from '../../src/store/database-clock.ts'
import { createTestDatabase } from '../testkit/postgres.ts'
import { until } from '../testkit/wait.ts'

/**
 * The permitted difference between the machine's clock, which is the database's too, and the clock after a reading or two. A
 * reading is as exact as a busy machine lets it be, and the smallest shift here is larger.
 */
const NEAR_MS = 200

async function open(clocks: { readonly wall?: () => number; readonly steady?: () => number }) {
  await using opening = new AsyncDisposableStack()
  const { pool } = opening.use(await createTestDatabase(1))
  const said: { level: number; clockOffsetMs?: number; byMs?: number }[] = []
  const logger = pino({ level: 'info' }, { write: (line: string) => void said.push(JSON.parse(line)) })
  const clock: DatabaseClock = opening.use(await startDatabaseClock({ pool, logger, ...clocks }))
  const opened = opening.move()
  return { clock, said, [Symbol.asyncDispose]: () => opened.disposeAsync() }
}
const expectNear = (clock: DatabaseClock) => expect(Math.abs(clock.now().getTime() - Date.now())).toBeLessThan(NEAR_MS)

test('a wrong or changed wall clock is logged once and has no effect', async () => {
  let shift = 14_000
  await using given = await open({ wall: () => Date.now() + shift })
  const { clock, said } = given
  expectNear(clock)
  expect(said).toMatchObject([{ level: 40 }])
  expect(said[0]?.clockOffsetMs).toBeGreaterThan(13_900)
  for (const [i, next] of [-600_000, -600_900, 300].entries()) {
    shift = next
    expect(Math.abs(clock.wallOffsetMs - shift)).toBeLessThan(NEAR_MS)
    expectNear(clock)
    if (i !== 1) await until(() => said.length === (i === 0 ? 2 : 3), { what: 'it is told' })
  }
  expect(said.map(({ level }) => level)).toEqual([40, 40, 30])
})

test('the next measurement notices a monotonic clock that stood still, and smaller differences never set the time back', async () => {
  let stood = 0
  await using given = await open({ steady: () => performance.now() - stood })
  const { clock, said } = given
  let last = clock.now()
  stood = 30_000
  // As it was when it stood still, and no earlier, until it has looked.
  await until(
    () => {
      const now = clock.now()
      const behind = Date.now() - now.getTime()
      if (behind > 1_000 && now < last && last.getTime() - now.getTime() < 1_000) throw new Error('it went back')
      last = now
      return behind < NEAR_MS
    },
    { what: 'it is right again' },
  )
  const [first, ...more] = said.filter(({ byMs }) => byMs !== undefined)
  expect(first?.byMs).toBeGreaterThan(29_000)
  expect(more).toEqual([])
})
