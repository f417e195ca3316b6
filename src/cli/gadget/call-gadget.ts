import { gadgetEnv } from '../../client/gadget/gadget-env.ts'
import { type GadgetResult, runGadget } from '../../client/gadget/run-gadget.ts'
import type { GadgetMode } from '../../core/gadget/protocol.ts'

/** The gadget that is checked, and how it is called. */
export interface CheckedGadget {
  readonly path: string
  readonly args: readonly string[]
  /** The user's own environment; the gadget sees the same part of it as from a runner. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** GADGET_… variables. */
  readonly settings: Readonly<Record<string, string>>
  /** Its state folder when the environment names none. */
  readonly state: string
  /** What PHASELINE_JOB is in every call. */
  readonly jobId: string
  /** How long one call may take, and how long after SIGINT, in milliseconds. */
  readonly callMs: number
  readonly graceMs: number
  /** The user interrupts. */
  readonly signal: AbortSignal
}
export interface GadgetCall {
  readonly result: GadgetResult
  /** It did not end in time. */
  readonly late: boolean
  /** The first thing that it said was heard: an interrupt was sent to it at work. */
  readonly interrupted: boolean
  /** It had to be killed after it was asked to stop. */
  readonly killed: boolean
}
interface Wishes {
  /** `--protocols`, as some write it. */
  readonly plural?: boolean
  /** SIGINT as soon as it has said something, or after a moment. */
  readonly interrupt?: boolean
}

/** A gadget that says nothing is interrupted after so long. */
const MUTE_MS = 300

/** Calls it once, as a runner does. */
export async function callGadget(gadget: CheckedGadget, mode: GadgetMode, wishes: Wishes = {}): Promise<GadgetCall> {
  const timeout = AbortSignal.timeout(gadget.callMs)
  const interrupt = new AbortController()
  let askedAt: number | null = null
  const ask = (): void => {
    if (!wishes.interrupt || interrupt.signal.aborted) return
    askedAt = performance.now()
    interrupt.abort()
  }
  const mute = wishes.interrupt ? setTimeout(ask, MUTE_MS) : undefined
  const result = await runGadget({
    path: gadget.path,
    args: gadget.args,
    mode,
    protocolOption: wishes.plural ? '--protocols' : '--protocol',
    env: gadgetEnv({ PHASELINE_STATE: gadget.state, ...gadget.env }, gadget.settings, gadget.jobId),
    graceMs: gadget.graceMs,
    signal: AbortSignal.any([timeout, interrupt.signal, gadget.signal]),
    onProgress: ask,
  })
  clearTimeout(mute)
  const late = timeout.aborted && result.outcome === 'stopped'
  return {
    result,
    late,
    interrupted: askedAt !== null && result.outcome === 'stopped',
    killed: askedAt !== null && performance.now() - askedAt >= gadget.graceMs,
  }
}
