import { z } from 'zod'

type TextMap = Readonly<Record<string, string>>

/** A map of texts, whatever its keys are: a record of zod loses the key `__proto__`. */
export const textMap = z
  .custom<TextMap>()
  .superRefine((value: unknown, context) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      context.addIssue({ code: 'custom', message: 'must be a map' })
      return
    }
    for (const [key, text] of Object.entries(value))
      if (typeof text !== 'string')
        context.addIssue({ code: 'custom', path: [key], message: 'must be text: put it in quotes' })
  })
  .meta({ type: 'object', additionalProperties: { type: 'string' } })
