import { gadgetEnv } from '../../client/gadget/gadget-env.ts'
import { type GadgetResult, type GadgetRun, runGadget } from '../../client/gadget/run-gadget.ts'
import type { WorkContext } from '../../client/index.ts'
import type { GadgetMode } from '../../core/gadget/protocol.ts'

/** A gadget as a piece of work asks for it. */
export interface GadgetCall {
  readonly context: WorkContext
  readonly options: CallOptions
  readonly config: { readonly args: readonly string[]; readonly env: Readonly<Record<string, string>> }
  readonly path: string
}
interface CallOptions {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly graceMs: number
  readonly onGroup?: GadgetRun['onGroup']
}

/** Runs it in one of its modes; what it says goes to the server, and nothing of it outlives the lease. */
export function callGadget(
  { context, options, config, path }: GadgetCall,
  mode: GadgetMode,
  signal: AbortSignal,
): Promise<GadgetResult> {
  return runGadget({
    path,
    args: config.args,
    mode,
    env: gadgetEnv(options.env, config.env),
    signal,
    kill: context.lost,
    graceMs: options.graceMs,
    onGroup: options.onGroup,
    onStep: (step) => context.log('STEP', step),
    onProgress: (progress) => context.report({ progress }),
    onLog: (line) => context.log('STDERR', line),
  })
}
