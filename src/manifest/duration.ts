import { z } from 'zod'
import { parseDuration } from './parse-duration.ts'

const parsedWith = (parse: (text: string) => number | null) =>
  z.string('must be a duration such as 15m').transform((written, context) => {
    const ms = parse(written)
    if (ms !== null) return ms
    context.addIssue({ code: 'custom', message: 'must be a duration such as 30s, 15m or 1h30m' })
    return z.NEVER
  })

/** A duration in a manifest, such as 15m, as milliseconds. */
export const duration = parsedWith(parseDuration)
/** The same, or 0s. */
export const delay = parsedWith((text) => (text === '0s' ? 0 : parseDuration(text)))
