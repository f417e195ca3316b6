import { z } from 'zod'
import { CALL_CONFIG } from '../../../agents/gadget/call-config.ts'
import { callGadget } from '../../../agents/gadget/call-gadget.ts'
import { findGadget } from '../../../agents/gadget/find-gadget.ts'
import { gadgetError } from '../../../agents/gadget/gadget-error.ts'
import type { GadgetOptions } from '../../../agents/gadget/gadget-options.ts'
import type { Work, WorkContext, WorkItem, WorkOutcome } from '../../../client/index.ts'

/** Config of a `gadget` item. */
const gadgetConfig = z.strictObject({
  ...CALL_CONFIG,
  /** Maximum number of retries of a failed run within the job. */
  retries: z.int().nonnegative().max(100).default(0),
})
type GadgetConfig = z.infer<typeof gadgetConfig>

/** Limit of `--abort`. */
const ABORT_MS = 60_000

/** The `gadget` deployer: runs an executable to deploy, the same one with --undo to uninstall. */
export const gadgetWork =
  (options: GadgetOptions): Work =>
  async (item, context) => {
    const parsed = gadgetConfig.safeParse(item.config)
    if (!parsed.success) return failed('GADGET_CONFIG', z.prettifyError(parsed.error))
    const found = await findGadget(options.folders, parsed.data.gadget)
    if (!found.ok) return failed('GADGET_NOT_FOUND', found.message)
    const { projectId } = item
    const job: Job = { item, context, options, config: parsed.data, path: found.path, projectId }
    return item.action === 'DELETE' ? await undo(job) : await run(job)
  }

interface Job {
  readonly item: WorkItem
  readonly context: WorkContext
  readonly options: GadgetOptions
  readonly config: GadgetConfig
  readonly path: string
  readonly projectId: WorkItem['projectId']
}

async function run(job: Job): Promise<WorkOutcome> {
  const result = await callGadget(job, 'run', job.context.signal)
  switch (result.outcome) {
    case 'succeeded':
      return { phase: 'SUCCEEDED', exports: result.exports }
    case 'failed':
      return job.item.attempt <= job.config.retries
        ? { phase: 'PROGRESSING', error: { ...gadgetError(result), retryable: true } }
        : { phase: 'FAILED', error: gadgetError(result) }
    case 'stopped':
      return await cleanUp(job)
    default:
      return result satisfies never
  }
}

/** After an abort request the gadget cleans up. An agent's shutdown leaves that to the next run. */
async function cleanUp(job: Job): Promise<WorkOutcome> {
  if (job.context.signal.reason !== 'ABORT_REQUESTED') return { phase: 'ABORTED' }
  const result = await callGadget(job, 'abort', AbortSignal.timeout(ABORT_MS))
  if (result.outcome === 'succeeded') return { phase: 'ABORTED' }
  const why = result.outcome === 'failed' ? result.message : 'It did not end in time.'
  return failed('GADGET_ABORT_FAILED', `The gadget was stopped, but its --abort failed. ${why}`)
}

async function undo(job: Job): Promise<WorkOutcome> {
  const result = await callGadget(job, 'undo', job.context.signal)
  switch (result.outcome) {
    case 'succeeded':
      return { phase: 'GONE' }
    case 'failed':
      return job.item.attempt <= job.config.retries
        ? { phase: 'DELETING', error: { ...gadgetError(result), retryable: true } }
        : { phase: 'DELETE_FAILED', error: gadgetError(result) }
    case 'stopped':
      return { phase: 'ABORTED' }
    default:
      return result satisfies never
  }
}

const failed = (code: string, message: string): WorkOutcome => ({ phase: 'FAILED', error: { code, message } })
