import type { z } from 'zod'

/** A record of an earlier process. Null: there is none, or another version has written it. */
export function parseJson<T>(schema: z.ZodType<T>, text: string | null | undefined): T | null {
  try {
    return typeof text === 'string' ? schema.parse(JSON.parse(text)) : null
  } catch {
    return null
  }
}
