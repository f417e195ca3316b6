import { randomUUID } from 'node:crypto'
import { basename } from 'node:path'
import { gadgetEnv } from '../../client/gadget/gadget-env.ts'
import { type GadgetResult, type GadgetRun, runGadget } from '../../client/gadget/run-gadget.ts'
import type { WorkContext } from '../../client/index.ts'
import type { GadgetMode } from '../../core/gadget/protocol.ts'
import { CALL, type CallState } from './call-name.ts'
import { traceCall } from './trace-call.ts'

/** One call of a gadget for a work item. */
export interface GadgetCall {
  readonly context: WorkContext
  readonly options: CallOptions
  readonly config: { readonly args: readonly string[]; readonly env: Readonly<Record<string, string>> }
  readonly path: string
  /** Job of a task. */
  readonly jobId?: string | null
  readonly projectId?: string | null | undefined
}
interface CallOptions {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly graceMs: number
  readonly onGroup?: GadgetRun['onGroup']
  readonly onCall?: ((call: string, state: CallState) => void) | undefined
}

/** Runs a gadget in one of its modes and reports its output. No process of it outlives the lease. */
export function callGadget(
  { context, options, config, path, jobId = null, projectId = null }: GadgetCall,
  mode: GadgetMode,
  signal: AbortSignal,
): Promise<GadgetResult> {
  const call = randomUUID()
  const placed = traceCall(context.traceparent, basename(path), mode)
  options.onCall?.(call, 'begins')
  // When runGadget returns, the process has started and its group has been passed on.
  const result = runGadget({
    path,
    args: config.args,
    mode,
    env: { ...gadgetEnv(options.env, config.env, { jobId, projectId, traceparent: placed.traceparent }), [CALL]: call },
    signal,
    kill: context.lost,
    graceMs: options.graceMs,
    onGroup: options.onGroup,
    onStep: (step) => context.log('STEP', step),
    onProgress: (progress) => context.report({ progress }),
    onLog: (line) => context.log('STDERR', line),
  })
  options.onCall?.(call, 'begun')
  return placed.ending(result)
}
