import { z } from 'zod'

const rate = z.number().min(0).max(1)
const ms = z.int().nonnegative().max(600_000)

/**
 * The behaviour of the simulated CRM: all zeros by default, so that every operation succeeds at once. Rates go from 0
 * (never) to 1 (always). The seed decides for each operation of each object independently: the same seed brings the same
 * losses, whatever else runs. A restarted process decides anew.
 */
export const crmBehaviour = z
  .strictObject({
    seed: z.int().default(0),
    /** Duration of an operation: minimum and maximum in milliseconds. */
    delayMs: z.tuple([ms, ms]).default([0, 0]),
    /** Number of steps, each reported as progress. */
    steps: z.int().min(1).max(1_000).default(1),
    /** The operation fails, and restores the previous state. */
    fail: rate.default(0),
    /** Ends the process in the middle of an operation, with exit code 137, and leaves the object half made. */
    crash: rate.default(0),
    /** Requests that never arrive. The server repeats them. */
    loseRequests: rate.default(0),
    /** Requests that arrive twice. */
    repeatRequests: rate.default(0),
    /** Reports of a beginning or of progress that never arrive. */
    loseBeginnings: rate.default(0),
    /** Reports of an end that never arrive: the server repeats the request only after its deadline. */
    loseEnds: rate.default(0),
    /** Reports that arrive twice, the second time later. */
    repeatReports: rate.default(0),
    /** Reports that arrive later than those that follow. */
    delayReports: rate.default(0),
    /** The delay in milliseconds. */
    laterMs: ms.default(50),
    /** The end of upgrades: the new CRM cannot be started, or ends before it has taken over. */
    upgrade: z.enum(['WORKS', 'NOT_STARTED', 'NOT_BROUGHT_UP']).default('WORKS'),
  })
  .prefault({})
export type CrmBehaviour = z.infer<typeof crmBehaviour>
/** The JSON in PHASELINE_CRM: every key is optional. */
export type CrmBehaviourInput = z.input<typeof crmBehaviour>

/** @throws Error that names the wrong key */
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
