import { z } from 'zod'
import { CALL_CONFIG } from '../../../agents/gadget/call-config.ts'
import { callGadget } from '../../../agents/gadget/call-gadget.ts'
import { findGadget } from '../../../agents/gadget/find-gadget.ts'
import { gadgetError } from '../../../agents/gadget/gadget-error.ts'
import type { GadgetOptions } from '../../../agents/gadget/gadget-options.ts'
import type { ReportedError, Work, WorkContext, WorkItem, WorkOutcome } from '../../../client/index.ts'
import type { GadgetMode } from '../../../core/gadget/protocol.ts'
import type { Phase } from '../../../core/vocabulary.ts'

export interface JobOptions extends GadgetOptions {
  /** Limit of `--getlocks` and `--abort` in milliseconds; 60,000 by default. */
  readonly shortMs?: number | undefined
}
const SHORT_MS = 60_000

/** Not strict: a newer server may send more fields. */
const jobConfig = z.object({
  ...CALL_CONFIG,
  /** For an UNDO: the phase that follows. */
  next: z.enum(['FAILED', 'RUNNING', 'ABORTED']).default('FAILED'),
})
type JobConfig = z.infer<typeof jobConfig>

/**
 * The runner of jobs of tasks. GET_LOCKS ends WAITING or FAILED; RUN ends DONE, UNDOING, or after an abort ABORTED or
 * UNDO_FAILED; UNDO ends as its config says or UNDO_FAILED; ABORT ends ABORTED or UNDO_FAILED.
 * When the lease is lost or this process ends, nothing is reported and no process of the gadget is left: the job may be
 * undone as soon as its lease has expired.
 */
export const jobWork =
  (options: JobOptions): Work =>
  async (item, context) => {
    const act = ACTIONS[item.action]
    if (!act) throw new Error(`A job of a task has no ${item.action}.`)
    const parsed = jobConfig.safeParse(item.config)
    if (!parsed.success) return act.failed({ code: 'GADGET_CONFIG', message: z.prettifyError(parsed.error) })
    const found = await findGadget(options.folders, parsed.data.gadget)
    if (!found.ok) return act.failed({ code: 'GADGET_NOT_FOUND', message: found.message })
    const { jobId, projectId } = item
    return await act.work({ context, options, config: parsed.data, path: found.path, jobId, projectId })
  }

interface Job {
  readonly context: WorkContext
  readonly options: JobOptions
  readonly config: JobConfig
  readonly path: string
  readonly jobId: string | null
  readonly projectId: WorkItem['projectId']
}
interface Action {
  readonly work: (job: Job) => Promise<WorkOutcome>
  readonly failed: (error: ReportedError) => WorkOutcome
}

const endedBy =
  (phase: Phase) =>
  (error: ReportedError): WorkOutcome => ({ phase, error })
const undoFailed = endedBy('UNDO_FAILED')

const ACTIONS: Readonly<Partial<Record<WorkItem['action'], Action>>> = {
  GET_LOCKS: { work: declare, failed: endedBy('FAILED') },
  RUN: { work: run, failed: endedBy('UNDOING') },
  UNDO: { work: undo, failed: undoFailed },
  ABORT: { work: abort, failed: undoFailed },
}

async function declare(job: Job): Promise<WorkOutcome> {
  const { result, late } = await callShortly(job, 'getlocks', job.context.signal)
  switch (result.outcome) {
    case 'succeeded':
      return { phase: 'WAITING', locks: result.locks }
    case 'failed':
      return { phase: 'FAILED', error: gadgetError(result) }
    case 'stopped':
      // Another agent repeats the call, or the job is over.
      return late ? { phase: 'FAILED', error: { code: 'GADGET_FAILED', message: late } } : null
    default:
      return result satisfies never
  }
}

async function run(job: Job): Promise<WorkOutcome> {
  const { signal } = job.context
  const result = await callGadget(job, 'run', signal)
  // An abort request that arrives just after the gadget has ended aborts the job all the same.
  if (signal.aborted) return signal.reason === 'ABORT_REQUESTED' ? await abort(job) : null
  switch (result.outcome) {
    case 'succeeded':
      return { phase: 'DONE', exports: result.exports }
    case 'failed':
      return { phase: 'UNDOING', error: gadgetError(result) }
    case 'stopped':
      return null
    default:
      return result satisfies never
  }
}

async function undo(job: Job): Promise<WorkOutcome> {
  const result = await callGadget(job, 'undo', onShutdown(job.context.signal))
  switch (result.outcome) {
    case 'succeeded':
      return { phase: job.config.next }
    case 'failed':
      return undoFailed(gadgetError(result))
    case 'stopped':
      return null
    default:
      return result satisfies never
  }
}

async function abort(job: Job): Promise<WorkOutcome> {
  const { result, late } = await callShortly(job, 'abort', onShutdown(job.context.signal))
  switch (result.outcome) {
    case 'succeeded':
      return { phase: 'ABORTED' }
    case 'failed':
      return undoFailed({ code: 'GADGET_ABORT_FAILED', message: `Its --abort failed. ${result.message}` })
    case 'stopped':
      return late ? undoFailed({ code: 'GADGET_ABORT_FAILED', message: late }) : null
    default:
      return result satisfies never
  }
}

/** A call with a time limit. `late` is the message when it was exceeded. */
async function callShortly(job: Job, mode: GadgetMode, signal: AbortSignal) {
  const ms = job.options.shortMs ?? SHORT_MS
  const timeout = AbortSignal.timeout(ms)
  const result = await callGadget(job, mode, AbortSignal.any([signal, timeout]))
  const late = timeout.aborted && !signal.aborted && !job.context.lost.aborted
  return { result, late: late ? `Its --${mode} did not end within ${ms / 1000} s.` : null }
}

/** The signal without abort requests: an undo or abort runs to its end. */
function onShutdown(signal: AbortSignal): AbortSignal {
  const shutdown = new AbortController()
  const pass = (): void => {
    if (signal.reason !== 'ABORT_REQUESTED') shutdown.abort(signal.reason)
  }
  if (signal.aborted) pass()
  else signal.addEventListener('abort', pass, { once: true })
  return shutdown.signal
}
