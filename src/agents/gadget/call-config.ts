import { z } from 'zod'
import { SETTABLE } from '../../client/gadget/gadget-env.ts'
import { isReservedArgument, RESERVED_ARGUMENT_RULE } from '../../core/gadget/protocol.ts'

const text = z.string().refine((value) => !value.includes('\0'), 'must not hold a NUL')
const argument = z
  .union([text, z.number(), z.boolean()])
  .transform(String)
  .refine((value) => !isReservedArgument(value), RESERVED_ARGUMENT_RULE)

/** Common to every gadget's config: its name, and its arguments and variables in every mode. */
export const CALL_CONFIG = {
  gadget: z.string(),
  args: z.array(argument).max(256).default([]),
  env: z
    .record(z.string().regex(SETTABLE, 'must be named GADGET_…'), text)
    .default({})
    .refine((env) => Object.keys(env).length <= 64, 'must not be more than 64'),
} as const
