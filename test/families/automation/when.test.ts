import fc from 'fast-check'
import { expect, test } from 'vitest'
import { firstTimes } from '../../../src/families/automation/rules/normalise-schedule.ts'
import { planFirings } from '../../../src/families/automation/rules/plan-firings.ts'
import type { ScheduleSpec } from '../../../src/families/automation/rules/spec.ts'
import { nextDue, type When } from '../../../src/families/when.ts'

const WHEN: When = { cron: [], timeZone: 'UTC', every: null, at: null, start: null, until: null }
const SPEC: ScheduleSpec = {
  ...WHEN,
  ...{ count: null, jitterMs: 0, overlap: 'SKIP', maxQueued: 1, catchUp: 'LAST', maxCaughtUp: 3, graceMs: 60_000 },
  run: { trigger: 'createEvent', input: {} },
}
const ID = 'a'
const MINUTE = 60_000
const HOUR = 60 * MINUTE
const at = (text: string) => new Date(text)

function hours(from: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, i) => new Date(at(from).getTime() + i * HOUR).toISOString().slice(11, 16))
}
function next(when: When, from: string, count: number): readonly (string | undefined)[] {
  let time: Date | null = at(from)
  return Array.from({ length: count }, () => {
    time = time && nextDue(when, time)
    return time?.toISOString()
  })
}

/**
 * The libraries of the field differ here, so the table is ours: a line on the days on which the clock is put forward and back,
 * with its times there in UTC. Berlin loses 02:00 to 03:00, Sydney the same half a year later, and Lord Howe half an hour from 02:00.
 */
test.each<[zone: string, line: string, day: string, expected: readonly string[], why: string]>([
  ['Europe/Berlin', '30 2 * * *', '2026-03-29', ['01:00'], 'in the gap: once, after it'],
  ['Europe/Berlin', '30 2 * * *', '2026-10-25', ['00:30'], 'in the doubled hour: once, at the first'],
  ['Europe/Berlin', '*/30 2 * * *', '2026-03-29', [], 'an interval within the gap: nothing'],
  ['Europe/Berlin', '*/30 2 * * *', '2026-10-25', ['00:00', '00:30', '01:00', '01:30'], 'in both'],
  ['Europe/Berlin', '0 1-3 * * *', '2026-03-29', ['00:00', '01:00'], 'hourly across the gap: each hour once'],
  ['Europe/Berlin', '0 * * * *', '2026-10-25', hours('2026-10-24T22:00Z', 25), 'a day of 25 hours'],
  ['Australia/Sydney', '30 2 * * *', '2026-10-04', ['16:00'], 'in the gap: once, after it'],
  ['Australia/Sydney', '30 2 * * *', '2026-04-05', ['15:30'], 'in the doubled hour: once, at the first'],
  ['Australia/Sydney', '*/30 2 * * *', '2026-10-04', [], 'an interval within the gap: nothing'],
  ['Australia/Sydney', '*/30 2 * * *', '2026-04-05', ['15:00', '15:30', '16:00', '16:30'], 'in both'],
  ['Australia/Sydney', '0 * * * *', '2026-10-04', hours('2026-10-03T14:00Z', 23), 'a day of 23 hours'],
  ['Australia/Lord_Howe', '15 2 * * *', '2026-10-04', ['15:30'], 'in the gap: once, after it'],
  ['Australia/Lord_Howe', '45 1 * * *', '2026-04-05', ['14:45'], 'in the doubled half hour: once, at the first'],
  ['Australia/Lord_Howe', '*/15 2 * * *', '2026-10-04', ['15:30', '15:45'], 'an interval: what there is of the hour'],
  [
    ...(['Australia/Lord_Howe', '*/15 1 * * *', '2026-04-05'] as const),
    ['14:00', '14:15', '14:30', '14:45', '15:00', '15:15'],
    'an interval: the half hour twice',
  ],
])('in %s, "%s" on %s', (timeZone, line, day, expected, _why) => {
  const when = { ...WHEN, cron: [line], timeZone }
  const local = new Intl.DateTimeFormat('en-CA', { timeZone, dateStyle: 'short' })
  const noon = at(`${day}T12:00:00Z`).getTime()
  const times = firstTimes(when, new Date(noon - 40 * HOUR), 60).filter((time) => local.format(time) === day)
  expect(times.map((time) => time.toISOString().slice(11, 16))).toEqual(expected)
  // The next time is the same whichever moment asks for it, also within the gap and the doubled hour.
  const all = firstTimes(when, new Date(noon - 40 * HOUR), 120)
  for (let now = noon - 40 * HOUR; now < noon + 30 * HOUR; now += 5 * MINUTE)
    expect(nextDue(when, new Date(now))).toEqual(all.find((time) => time.getTime() > now))
})

test('a day that never comes has no time', () => {
  expect(next({ ...WHEN, cron: ['0 0 30 2 *'], timeZone: 'Europe/Berlin' }, '2026-01-01T00:00:00Z', 1)).toEqual([
    undefined,
  ])
})

/** An engine that was away for three hours, and five minutes late for the last of thirteen times. */
test.each<[string, Partial<ScheduleSpec>, expected: readonly string[]]>([
  ['NONE', { catchUp: 'NONE' }, ['MISSED 00:00 to 03:00: 13']],
  ['NONE, with the last one in time', { catchUp: 'NONE', graceMs: 600_000 }, ['MISSED 00:00 to 02:45: 12', '03:00']],
  ['LAST', { catchUp: 'LAST' }, ['MISSED 00:00 to 02:45: 12', '03:00']],
  ['ALL, the newest three', { catchUp: 'ALL' }, ['MISSED 00:00 to 02:15: 10', '02:30', '02:45', '03:00']],
  ['ALL, up to the count', { catchUp: 'ALL', count: 2 }, ['MISSED 00:00 to 02:15: 10', '02:30', '02:45']],
])('after three hours of absence: %s', (_, more, expected) => {
  const spec = { ...SPEC, cron: ['*/15 * * * *'], ...more }
  const now = at('2026-01-01T03:05:00Z')
  const { firings } = planFirings(spec, { id: ID, due: at('2026-01-01T00:00:00Z'), firedCount: 0 }, now)
  const clock = (time: Date | null) => time?.toISOString().slice(11, 16)
  const told = firings.map(({ due, lastDue, skipped, count }) =>
    skipped === null ? clock(due) : `${skipped} ${clock(due)} to ${clock(lastDue)}: ${count}`,
  )
  expect(told).toEqual(expected)
})

test('several lines, an interval with an offset, one time, a start and an end', () => {
  expect(next({ ...WHEN, cron: ['0 3 * * *', '0 1 * * *'] }, '2026-01-01T00:00:00Z', 3)).toEqual([
    ...['2026-01-01T01:00:00.000Z', '2026-01-01T03:00:00.000Z', '2026-01-02T01:00:00.000Z'],
  ])
  const every = { ms: 60_000, offsetMs: 5_000 }
  expect(next({ ...WHEN, every }, '2026-01-01T00:00:05Z', 1)).toEqual(['2026-01-01T00:01:05.000Z'])
  const start = '2026-01-02T00:00:05.000Z'
  expect(next({ ...WHEN, every, start, until: '2026-01-02T00:01:05Z' }, '2026-01-01T00:00:00Z', 3)).toEqual([
    ...[start, '2026-01-02T00:01:05.000Z', undefined],
  ])
  expect(next({ ...WHEN, at: start }, '2026-01-01T00:00:00Z', 2)).toEqual([start, undefined])
})

/** Walks a schedule through time, with the engine away for some of it. */
function walk(spec: ScheduleSpec, begin: number, steps: readonly number[]) {
  const firings: { readonly due: number; readonly at: number; readonly isFired: boolean; readonly count: number }[] = []
  let [due, fired, now] = [nextDue(spec, new Date(begin - 1)), 0, begin]
  for (const step of steps) {
    now += step
    if (!due) break
    const plan = planFirings(spec, { id: ID, due, firedCount: fired }, new Date(now))
    for (const { due, skipped, count } of plan.firings)
      firings.push({ due: due.getTime(), at: now, isFired: skipped === null, count: count ?? Number.NaN })
    fired += plan.firings.filter(({ skipped }) => skipped === null).length
    due = plan.next
  }
  return { firings, due, fired, now }
}

test('each time fires once or is named as skipped, by the policy, whatever the engine misses', () => {
  fc.assert(
    fc.property(
      fc.constantFrom('NONE', 'LAST', 'ALL' as const),
      fc.integer({ min: 0, max: 90_000 }),
      fc.constantFrom(0, 20_000),
      fc.option(fc.integer({ min: 1, max: 6 }), { nil: null }),
      fc.array(fc.oneof(fc.integer({ min: 1, max: 50_000 }), fc.integer({ min: MINUTE, max: 20 * MINUTE })), {
        minLength: 1,
        maxLength: 20,
      }),
      (catchUp, graceMs, jitterMs, count, steps) => {
        const every = { ms: MINUTE, offsetMs: 0 }
        const spec = { ...SPEC, every, catchUp: catchUp as ScheduleSpec['catchUp'], graceMs, jitterMs, count }
        const begin = at('2026-01-01T00:00:00Z').getTime()
        const { firings, due, fired, now } = walk(spec, begin, steps)
        const told = firings.reduce((sum, one) => sum + one.count, 0)
        const last = due?.getTime() ?? Number.NaN
        if (due) {
          // The firings name all times before the next one, and none before it has come.
          expect(told).toBe((last - begin) / MINUTE)
          expect(last + jitterMs).toBeGreaterThan(now - MINUTE - jitterMs)
        } else expect(fired).toBe(count)
        const dues = firings.filter(({ isFired }) => isFired).map((one) => one.due)
        expect(new Set(dues).size).toBe(dues.length)
        for (const { due, at, isFired } of firings) {
          expect(at).toBeGreaterThanOrEqual(due)
          if (isFired && catchUp === 'NONE') expect(at - due).toBeLessThanOrEqual(graceMs + jitterMs)
        }
        for (const [, together] of Map.groupBy(firings, ({ at }) => at)) {
          const here = together.filter(({ isFired }) => isFired).length
          expect(here).toBeLessThanOrEqual(catchUp === 'ALL' ? SPEC.maxCaughtUp : 1)
          if (catchUp !== 'NONE' && fired < (count ?? 99)) expect(here).toBeGreaterThan(0)
        }
      },
    ),
  )
})

test('a long absence is counted as far as it is cheap, and its newest time fires', () => {
  const now = at('2026-03-01T00:00:30Z')
  const due = at('2026-01-01T00:00:00Z')
  const plan = planFirings({ ...SPEC, cron: ['* * * * * *'], catchUp: 'ALL' }, { id: ID, due, firedCount: 0 }, now)
  expect(plan.firings).toMatchObject([
    { skipped: 'MISSED', due, count: null },
    { skipped: null, due: at('2026-03-01T00:00:28Z') },
    { skipped: null, due: at('2026-03-01T00:00:29Z') },
    { skipped: null, due: now },
  ])
  expect(plan.next).toEqual(at('2026-03-01T00:00:31Z'))
})
