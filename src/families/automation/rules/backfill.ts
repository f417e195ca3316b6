import { timesAfter, type When } from '../../when.ts'

/** More than the hours of a year. */
export const MAX_BACKFILLED = 10_000
/** Times that are computed in one go: each line of cron costs up to 0.1 ms. */
const AT_ONCE = 200

/**
 * The times from `first` to `last`, both included; null: they are too many.
 * @param rest called now and then, since many are computed for up to a second
 */
export async function timesWithin(
  when: When,
  { first, last }: { readonly first: Date; readonly last: Date },
  rest: () => Promise<unknown>,
): Promise<readonly Date[] | null> {
  const times: Date[] = []
  for (const time of timesAfter(when, new Date(first.getTime() - 1))) {
    if (time > last) break
    if (times.length >= MAX_BACKFILLED) return null
    times.push(time)
    if (times.length % AT_ONCE === 0) await rest()
  }
  return times
}
