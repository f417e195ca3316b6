import { z } from 'zod'
import { parseDuration, writeDuration } from '../core/parse-duration.ts'

/** The API has whole numbers of 32 bits. */
const LONGEST = 2 ** 31 - 1

const parsedWith = (parse: (text: string) => number | null, longestMs = LONGEST) =>
  z.string('must be a duration such as 15m').transform((written, context) => {
    const ms = parse(written)
    if (ms !== null && ms <= longestMs) return ms
    const message =
      ms === null ? 'must be a duration such as 30s, 15m or 1h30m' : `must be at most ${writeDuration(longestMs)}`
    context.addIssue({ code: 'custom', message })
    return z.NEVER
  })

/** A duration in a manifest, such as 15m, as milliseconds. */
export const duration = parsedWith(parseDuration)
/** The same, for what the API has in seconds. */
export const longDuration = parsedWith(parseDuration, LONGEST * 1_000)
/** The same, or 0s. */
export const delay = parsedWith((text) => (text === '0s' ? 0 : parseDuration(text)))
