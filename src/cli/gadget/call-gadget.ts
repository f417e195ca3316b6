import { gadgetEnv } from '../../client/gadget/gadget-env.ts'
import { type GadgetResult, runGadget } from '../../client/gadget/run-gadget.ts'
import type { GadgetMode } from '../../core/gadget/protocol.ts'

/** The gadget to check, and how to call it. */
export interface CheckedGadget {
  readonly path: string
  readonly args: readonly string[]
  /** The user's own environment; the gadget gets the same part of it as from a runner. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** GADGET_… variables. */
  readonly settings: Readonly<Record<string, string>>
  /** The state folder, unless the environment names one. */
  readonly state: string
  /** The value of PHASELINE_JOB in every call. */
  readonly jobId: string
  /** Milliseconds that one call may take, and that it may take after SIGINT. */
  readonly callMs: number
  readonly graceMs: number
  /** Aborts when the user interrupts. */
  readonly signal: AbortSignal
}
export interface GadgetCall {
  readonly result: GadgetResult
  /** The call did not end in time. */
  readonly late: boolean
  /** The gadget had written something when the interrupt was sent. */
  readonly interrupted: boolean
  /** The gadget was killed, since it did not end after the interrupt. */
  readonly killed: boolean
}
interface Wishes {
  /** `--protocols`, a common mistake for `--protocol`. */
  readonly plural?: boolean
  /** Sends SIGINT after the gadget's first output, or after a moment. */
  readonly interrupt?: boolean
}

/** Milliseconds after which a gadget without output is interrupted. */
const MUTE_MS = 300

/** Calls the gadget once, as a runner does. */
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
    env: gadgetEnv({ PHASELINE_STATE: gadget.state, ...gadget.env }, gadget.settings, { jobId: gadget.jobId }),
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
