import { z } from 'zod'
import type { Work, WorkContext, WorkItem, WorkOutcome } from '../../../client/index.ts'
import { pause } from '../../../client/pause.ts'

const times = z.int().nonnegative()
const ms = z.number().nonnegative().max(2_147_483_647)

/** Config of a `mock` item. Unknown keys are ignored. Times in milliseconds. */
const mockConfig = z.object({
  delayMs: ms.default(0),
  exports: z.record(z.string(), z.unknown()).optional(),
  /** This many first attempts of a job fail, and are retried. */
  failTimes: times.default(0),
  /** This many first attempts end FAILED, and leave it to the retry policy whether there is another one. */
  flaky: times.default(0),
  /** Ends FAILED, without a retry. */
  fail: z.boolean().default(false),
  /** Never ends by itself. */
  hang: z.boolean().default(false),
  /** Does not stop when asked to, only when the lease is lost. */
  ignoreAbort: z.boolean().default(false),
  /** Ends the deployer's process: always, or in this many first attempts. */
  crash: z.union([z.boolean(), times]).default(false),
  /** Number of reported steps, spread over `delayMs`. */
  steps: times.max(1_000).default(0),
  /** Number of output lines. */
  logLines: times.max(10_000).default(0),
  deleteDelayMs: ms.default(0),
  deleteFailTimes: times.default(0),
  deleteFail: z.boolean().default(false),
})
type MockConfig = z.infer<typeof mockConfig>
const DEFAULTS = mockConfig.parse({})

export interface MockOptions {
  /** Ends the process of this deployer. */
  crash(): never
}

/** The `mock` deployer: deploys nothing, and behaves as its config says. */
export const mockWork =
  (options: MockOptions): Work =>
  (item, context) => {
    const read = readConfig(item.config)
    if (!read.ok) return { phase: 'FAILED', error: { code: 'MOCK_CONFIG', message: read.message } }
    return item.action === 'DELETE' ? remove(item, read.config, context) : deploy(item, read.config, context, options)
  }

function deploy(
  item: WorkItem,
  config: MockConfig,
  context: WorkContext,
  { crash }: MockOptions,
): WorkOutcome | Promise<WorkOutcome> {
  if (config.crash === true || item.attempt <= Number(config.crash)) crash()
  for (let line = 1; line <= config.logLines; line += 1) context.log('STDOUT', `line ${line}`)
  const end = (): WorkOutcome => {
    if (item.attempt <= config.failTimes) return { phase: 'PROGRESSING', error: failure(item, true) }
    if (item.attempt <= config.flaky) return { phase: 'FAILED', error: failure(item) }
    if (config.fail) return { phase: 'FAILED', error: failure(item, false) }
    return { phase: 'SUCCEEDED', ...(config.exports ? { exports: config.exports } : {}) }
  }
  // Without a delay the work is synchronous: throughput is measured with it.
  if (config.delayMs === 0 && config.steps === 0 && !config.hang) return end()
  return unlessStopped(config, context, () => takeTime(config, context), end)
}

function remove(item: WorkItem, config: MockConfig, context: WorkContext): WorkOutcome | Promise<WorkOutcome> {
  const end = (): WorkOutcome => {
    if (item.attempt <= config.deleteFailTimes) return { phase: 'DELETING', error: failure(item, true) }
    if (config.deleteFail) return { phase: 'DELETE_FAILED', error: failure(item, false) }
    return { phase: 'GONE' }
  }
  if (config.deleteDelayMs === 0) return end()
  return unlessStopped(config, context, () => pause(config.deleteDelayMs, stopSignal(config, context)), end)
}

async function unlessStopped(
  config: MockConfig,
  context: WorkContext,
  take: () => Promise<void>,
  end: () => WorkOutcome,
): Promise<WorkOutcome> {
  await take()
  return stopSignal(config, context).aborted ? { phase: 'ABORTED' } : end()
}

async function takeTime(config: MockConfig, context: WorkContext): Promise<void> {
  const { delayMs, steps, hang } = config
  const signal = stopSignal(config, context)
  for (let step = 1; step <= steps && !signal.aborted; step += 1) {
    const name = `step ${step} of ${steps}`
    context.log('STEP', name)
    context.report({ progress: { step: name, value: step - 1, total: steps, unit: 'steps' } })
    await pause(delayMs / steps, signal)
  }
  if (steps === 0) await pause(delayMs, signal)
  if (hang && !signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
}

function stopSignal({ ignoreAbort }: MockConfig, { signal, lost }: WorkContext): AbortSignal {
  // Only an abort request is ignored, not the agent's shutdown.
  return ignoreAbort && (!signal.aborted || signal.reason === 'ABORT_REQUESTED') ? lost : signal
}

const failure = ({ attempt }: WorkItem, retryable: boolean | null = null) => ({
  code: 'MOCK_FAILURE',
  message: `Attempt ${attempt} failed as configured.`,
  retryable,
})

type Read = { readonly ok: true; readonly config: MockConfig } | { readonly ok: false; readonly message: string }
function readConfig(config: unknown): Read {
  if (config === null || config === undefined) return { ok: true, config: DEFAULTS }
  const parsed = mockConfig.safeParse(config)
  if (parsed.success) return { ok: true, config: parsed.data }
  return { ok: false, message: z.prettifyError(parsed.error) }
}
