import { z } from 'zod'

const rate = z.number().min(0).max(1)
const ms = z.int().nonnegative().max(600_000)

/**
 * How the simulated CRM behaves: all zeros by default, so that it does well what it is asked to do, at once. Rates go
 * from 0 (never) to 1 (always). What happens is decided by the seed, for each operation of each object by itself: the
 * same seed brings the same losses, whatever runs beside. A process that is started again decides anew.
 */
export const crmBehaviour = z
  .strictObject({
    seed: z.int().default(0),
    /** How long an operation takes, from least to most, in milliseconds. */
    delayMs: z.tuple([ms, ms]).default([0, 0]),
    /** In so many steps, each told as progress. */
    steps: z.int().min(1).max(1_000).default(1),
    /** Ends with an error, after putting things back. */
    fail: rate.default(0),
    /** Ends the process in the middle of an operation, with exit code 137: what it was at is left half made. */
    crash: rate.default(0),
    /** Requests that never arrive. They come again. */
    loseRequests: rate.default(0),
    /** Requests that arrive twice. */
    repeatRequests: rate.default(0),
    /** Reports of a beginning or of progress that never arrive. */
    loseBeginnings: rate.default(0),
    /** Reports of an end that never arrive: nobody asks for them again until the server's deadline. */
    loseEnds: rate.default(0),
    /** Reports that arrive twice, the second time later. */
    repeatReports: rate.default(0),
    /** Reports that arrive later than those that follow. */
    delayReports: rate.default(0),
    /** So much later, in milliseconds. */
    laterMs: ms.default(50),
    /** How upgrades end: the new CRM cannot be started, or ends before it has taken over. */
    upgrade: z.enum(['WORKS', 'NOT_STARTED', 'NOT_BROUGHT_UP']).default('WORKS'),
  })
  .prefault({})
export type CrmBehaviour = z.infer<typeof crmBehaviour>
/** As it is written in PHASELINE_CRM: everything may be left out. */
export type CrmBehaviourInput = z.input<typeof crmBehaviour>

/** @throws Error that says what is wrong */
export function readBehaviour(text: string | undefined): CrmBehaviour {
  const parsed = crmBehaviour.safeParse(text ? parseJson(text) : {})
  if (parsed.success) return parsed.data
  throw new Error(`PHASELINE_CRM: ${z.prettifyError(parsed.error)}`)
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
