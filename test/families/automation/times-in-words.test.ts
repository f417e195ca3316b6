import { expect, test } from 'vitest'
import { timesInWords } from '../../../src/families/automation/rules/times-in-words.ts'
import type { When } from '../../../src/families/when.ts'

const WHEN: When = { cron: [], timeZone: 'Europe/Berlin', every: null, at: null, start: null, until: null }

test.each<[line: string, words: string]>([
  ['30 2 * * *', 'every day at 02:30 in Berlin'],
  ['30 2 * * 1-5', 'every weekday at 02:30 in Berlin'],
  ['30 2 * * MON-FRI', 'every weekday at 02:30 in Berlin'],
  ['0 9,17 * * 1,3', 'every Monday and Wednesday at 09:00 and 17:00 in Berlin'],
  ['0 8 * * 6,7', 'every Saturday and Sunday at 08:00 in Berlin'],
  ['0 0 1 * *', 'on day 1 of every month at 00:00 in Berlin'],
  ['0 6 1,15 JAN,JUL *', 'on days 1 and 15 of January and July at 06:00 in Berlin'],
  ['0 6 L * *', 'on the last day of every month at 06:00 in Berlin'],
  ['0 6 13 * FRI', 'on day 13 of every month and every Friday at 06:00 in Berlin'],
  ['0 6 * 12 *', 'every day in December at 06:00 in Berlin'],
  ['* * * * *', 'every minute in Berlin'],
  ['*/15 * * * *', 'every 15 minutes in Berlin'],
  ['*/15 8-17 * * 1-5', 'every 15 minutes from 08:00 to 17:59, on weekdays in Berlin'],
  ['0 * * * *', 'every hour in Berlin'],
  ['@hourly', 'every hour in Berlin'],
  ['15,45 * * * *', 'every hour at :15 and :45 in Berlin'],
  ['30 */6 * * *', 'every 6 hours at :30 in Berlin'],
  ['30 8-18 * * *', 'every hour from 08:30 to 18:30 in Berlin'],
  ['*/10 * * * * *', 'every 10 seconds in Berlin'],
  ['0 30 2 * * *', 'every day at 02:30 in Berlin'],
  // These would take more than a sentence, or are not what a step seems to say.
  ['*/7 * * * *', 'at the times of */7 * * * * in Berlin'],
  ['5 30 2 * * *', 'at the times of 5 30 2 * * * in Berlin'],
  ['0 6 * * 5#2', 'at the times of 0 6 * * 5#2 in Berlin'],
])('%s is %s', (line, words) => {
  expect(timesInWords({ ...WHEN, cron: [line] })).toBe(words)
})

test('other times', () => {
  expect(timesInWords({ ...WHEN, cron: ['0 1 * * *', '0 5 * * 0'], timeZone: 'UTC' })).toBe(
    'every day at 01:00; every Sunday at 05:00 in UTC',
  )
  expect(timesInWords({ ...WHEN, every: { ms: 900_000, offsetMs: 0 } })).toBe('every 15 minutes')
  expect(timesInWords({ ...WHEN, every: { ms: 3_600_000, offsetMs: 300_000 } })).toBe(
    'every hour, 5 minutes after the full ones',
  )
  expect(timesInWords({ ...WHEN, at: '2026-12-24T17:00:00Z' })).toBe('once, on 24 December 2026, 18:00 in Berlin')
  expect(timesInWords({ ...WHEN, cron: ['0 1 * * *'], until: '2026-12-24T17:00:00Z' })).toBe(
    'every day at 01:00 in Berlin, until 24 December 2026, 18:00',
  )
})
