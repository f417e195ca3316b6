import { z } from 'zod'
import { SETTABLE } from '../../client/gadget/gadget-env.ts'

const text = z.string().refine((value) => !value.includes('\0'), 'must not hold a NUL')

/** Common to every gadget's config: its name, and its arguments and variables in every mode. */
export const CALL_CONFIG = {
  gadget: z.string(),
  args: z
    .array(z.union([text, z.number(), z.boolean()]).transform(String))
    .max(256)
    .default([]),
  env: z
    .record(z.string().regex(SETTABLE, 'must be named GADGET_…'), text)
    .default({})
    .refine((env) => Object.keys(env).length <= 64, 'must not be more than 64'),
} as const
