import { randomUUID } from 'node:crypto'
import { gadgetEnv } from '../../client/gadget/gadget-env.ts'
import { type GadgetResult, type GadgetRun, runGadget } from '../../client/gadget/run-gadget.ts'
import type { WorkContext } from '../../client/index.ts'
import type { GadgetMode } from '../../core/gadget/protocol.ts'
import { CALL, type CallState } from './call-name.ts'

/** A gadget as a piece of work asks for it. */
export interface GadgetCall {
  readonly context: WorkContext
  readonly options: CallOptions
  readonly config: { readonly args: readonly string[]; readonly env: Readonly<Record<string, string>> }
  readonly path: string
  /** Of a task's job. */
  readonly jobId?: string | null
}
interface CallOptions {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly graceMs: number
  readonly onGroup?: GadgetRun['onGroup']
  readonly onCall?: ((call: string, state: CallState) => void) | undefined
}

/** Runs it in one of its modes; what it says goes to the server, and nothing of it outlives the lease. */
export function callGadget(
  { context, options, config, path, jobId = null }: GadgetCall,
  mode: GadgetMode,
  signal: AbortSignal,
): Promise<GadgetResult> {
  const call = randomUUID()
  options.onCall?.(call, 'begins')
  // Has started it, and told of its group, when it returns.
  const result = runGadget({
    path,
    args: config.args,
    mode,
    env: { ...gadgetEnv(options.env, config.env, jobId), [CALL]: call },
    signal,
    kill: context.lost,
    graceMs: options.graceMs,
    onGroup: options.onGroup,
    onStep: (step) => context.log('STEP', step),
    onProgress: (progress) => context.report({ progress }),
    onLog: (line) => context.log('STDERR', line),
  })
  options.onCall?.(call, 'begun')
  return result
}
