import { Cron } from 'croner'
import type { Problems } from '../core/problems.ts'

/** The times of what happens by itself. Pure: whatever the process, the same schedule has the same times. */
export interface When {
  /** Lines of five or six fields; the earliest next one counts. Empty: `every` or `at` says the times. */
  readonly cron: readonly string[]
  /** IANA name, e.g. Europe/Berlin. */
  readonly timeZone: string
  /** Multiples of `ms` since the epoch, and `offsetMs` more. */
  readonly every: { readonly ms: number; readonly offsetMs: number } | null
  /** ISO times, as JSON has them. */
  readonly at: string | null
  readonly start: string | null
  readonly until: string | null
}

/** A line with longer pauses ends there: the search for the next time would take longer than anything else here. */
const MAX_PAUSE_MS = 8.1 * 366 * 86_400_000

/** Why a line is none; null: it is one, and its next time is near enough. */
function cronProblem(line: string, timeZone: string, now: Date): string | null {
  try {
    const next = cronOf(line, timeZone).nextRun(now)
    return next && isNear(next, now) ? null : 'it has no time within eight years'
  } catch (error) {
    return (error as Error).message.replace(/^Cron\w*: /, '')
  }
}
export function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    return false
  }
}
/** Adds the problems of lines and their time zone. */
export function checkCron(
  { cron, timeZone }: Pick<When, 'cron' | 'timeZone'>,
  { now, path }: { readonly now: Date; readonly path: string },
  problems: Problems,
): void {
  if (!isTimeZone(timeZone))
    return problems.add(`${path}.timeZone`, 'is no time zone: write a name such as Europe/Berlin')
  for (const [i, line] of cron.entries()) {
    const problem = cronProblem(line, timeZone, now)
    if (problem === null) continue
    // A line without a time is searched for long, so no other is.
    return problems.add(`${path}.cron.${i}`, `is no line of cron: ${problem}`)
  }
}
const cronOf = (line: string, timezone: string): Cron => new Cron(line, { ...OPTIONS, timezone })
const OPTIONS = { mode: '5-or-6-parts', paused: true } as const
const isNear = (next: Date, after: Date): boolean => next.getTime() - after.getTime() <= MAX_PAUSE_MS

/** The first time after `after`; null: there is none. */
export const nextDue = (when: When, after: Date): Date | null => timesAfter(when, after).next().value ?? null

/** The times after `after`, one after the other. */
export function* timesAfter(when: When, after: Date): Generator<Date, undefined> {
  const { start, until, at, every, cron, timeZone } = when
  // A time at the start itself counts.
  const floor = start === null ? after : new Date(Math.max(after.getTime(), new Date(start).getTime() - 1))
  const times = at === null ? (every ? multiples(every, floor) : ofLines(cron, timeZone, floor)) : [new Date(at)]
  for (const time of times) {
    if (until !== null && time > new Date(until)) return
    if (time > floor) yield time
  }
}

function* multiples({ ms, offsetMs }: NonNullable<When['every']>, after: Date): Generator<Date> {
  for (let n = Math.floor((after.getTime() - offsetMs) / ms) + 1; ; n += 1) yield new Date(n * ms + offsetMs)
}

/** Each line is read once, and searched again only once its time is taken. */
function* ofLines(lines: readonly string[], timeZone: string, after: Date): Generator<Date> {
  const next = (cron: Cron, time: Date) => ({ cron, time: cron.nextRun(time), before: time })
  let open = [...new Set(lines)].map((line) => next(cronOf(line, timeZone), after))
  for (;;) {
    const times = open.flatMap(({ time, before }) => (time && isNear(time, before) ? [time.getTime()] : []))
    if (times.length === 0) return
    const first = Math.min(...times)
    yield new Date(first)
    open = open.map((one) => (one.time?.getTime() === first ? next(one.cron, one.time) : one))
  }
}

/** The newest times of those after `after` up to `now`, the oldest first. */
function newestDues({ until, every, cron, timeZone }: When, after: Date, now: Date, count: number): readonly Date[] {
  const ceiling = until === null ? now : new Date(Math.min(now.getTime(), new Date(until).getTime()))
  const beyond = new Date(ceiling.getTime() + 1)
  const last = every ? (multiples(every, ceiling).next().value as Date).getTime() : 0
  const times = every
    ? Array.from({ length: count }, (_, i) => last - (i + 1) * every.ms)
    : cron.flatMap((line) =>
        cronOf(line, timeZone)
          .previousRuns(count, beyond)
          .map((time) => time.getTime()),
      )
  return [...new Set(times)]
    .filter((time) => time > after.getTime())
    .sort((a, b) => a - b)
    .slice(-count)
    .map((time) => new Date(time))
}

/** Times are listed up to this many; more are only counted. */
const MAX_LISTED = 1_000

/** The times after `after` up to `now`. */
export interface Passed {
  /** All of them, or the first ones and the newest. */
  readonly times: readonly Date[]
  /** The number of the first ones, after which some may be left out. */
  readonly listed: number
  /** False: there are more than are listed. */
  readonly isComplete: boolean
}
export function passed(when: When, after: Date, now: Date, newest: number): Passed {
  const times: Date[] = []
  for (const time of timesAfter(when, after)) {
    if (time > now) break
    if (times.length >= MAX_LISTED) {
      const last = newestDues(when, times.at(-1) ?? after, now, newest)
      return { times: [...times, ...last], listed: times.length, isComplete: false }
    }
    times.push(time)
  }
  return { times, listed: times.length, isComplete: true }
}

/** The delay of one firing, the same for all who compute it. */
export function jitterOf(scheduleId: string, due: Date, jitterMs: number): number {
  if (jitterMs === 0) return 0
  // FNV-1a: evenly spread is enough.
  let hash = 2_166_136_261
  for (const character of `${scheduleId} ${due.getTime()}`) hash = Math.imul(hash ^ character.charCodeAt(0), 16_777_619)
  return (hash >>> 0) % (jitterMs + 1)
}
