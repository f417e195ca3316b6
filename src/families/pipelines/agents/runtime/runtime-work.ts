import { KeyedQueue } from '../../../../agents/keyed-queue.ts'
import { asError } from '../../../../client/as-error.ts'
import type {
  Client,
  ReportedError,
  StopReason,
  Work,
  WorkContext,
  WorkItem,
  WorkOutcome,
} from '../../../../client/index.ts'
import { pause, retryDelay } from '../../../../client/pause.ts'
import { gql } from '../../../../documents/gql.ts'
import { ArtifactProblem } from '../artifacts/artifact-problem.ts'
import { artifactsOf, leaveArtifacts } from '../artifacts/leave-artifacts.ts'
import { writeReceipt } from './receipt.ts'
import {
  type OutputStream,
  type Runtime,
  StartProblem,
  type StartProblemCode,
  type Taken,
  type Watcher,
  type WorkloadEnd,
} from './runtime.ts'
import { readWorkload, readWorkspace, type TakenSpec } from './start-config.ts'

export interface RuntimeWorkOptions {
  readonly runtime: Runtime
  readonly client: Client
  /** Aborts when the agent ends. */
  readonly signal: AbortSignal
  onProblem(problem: { readonly error: Error; readonly objectId: string }): void
}

/** The answer to a claim is never delayed longer. */
const LATE_MS = 600_000

/**
 * The work of a runtime's agent. A START lasts as long as its workload and ends with its report; when the agent ends,
 * the workload keeps running. A workload is stopped once its object no longer needs it: by its REMOVE, or when its
 * lease is lost and the server says that the object is finished or gone. In doubt it keeps running.
 */
export function runtimeWork(options: RuntimeWorkOptions): Work {
  /** START and REMOVE of each object, in the order of their claims. */
  const queue = new KeyedQueue()
  const followed = new Map<string, Following>()
  /**
   * Removal times of starts, oldest first: the answer with a START may arrive after the one with its REMOVE. Its report then comes too late, unless
   * the server's database has become an older one, which does not know of the end.
   */
  const removed = new Map<string, number>()

  async function start(item: WorkItem, context: WorkContext): Promise<WorkOutcome> {
    const { objectId } = item
    const begun = await queue.add(objectId, async (): Promise<{ refused: WorkOutcome } | { following: Following }> => {
      if (removed.has(startOf(item))) return { refused: REMOVED }
      // This agent may have claimed the work again after its lease expired, and still follow the workload for the old one.
      await followed.get(objectId)?.detach()
      const refused = await begin(options, item, context)
      if (refused) return { refused }
      const following = follow(options, item, context)
      followed.set(objectId, following)
      return { following }
    })
    if ('refused' in begun) return begun.refused
    const { following } = begun
    const ended = await following.ended
    if (followed.get(objectId) === following) followed.delete(objectId)
    if (ended) {
      if (ended.end.how === 'EXITED' && artifactsOf(item).length > 0)
        void closeUnneeded(options, objectId, () => removed.has(startOf(item)))
      return outcomeOf(item, ended)
    }
    if (context.lost.aborted && !following.isDetached()) await stopIfUnneeded(options, objectId)
    return null
  }

  async function remove(item: WorkItem): Promise<WorkOutcome> {
    const now = performance.now()
    for (const [id, at] of removed) {
      if (now - at < LATE_MS) break
      removed.delete(id)
    }
    removed.set(startOf(item), now)
    await queue.add(item.objectId, () => options.runtime.remove(item.objectId, readWorkspace(item)))
    return { done: true }
  }

  return async (item, context) => {
    try {
      return await (item.action === 'START' ? start(item, context) : remove(item))
    } catch (error) {
      // The error says nothing about the workload, so nothing is reported: the work is offered again when its lease expires.
      options.onProblem({ error: asError(error), objectId: item.objectId })
      return null
    }
  }
}

/** Each attempt of a job is a start of its own, with a job id of its own. */
const startOf = ({ objectId, jobId }: WorkItem): string => `${objectId} ${jobId}`

const REMOVED: WorkOutcome = {
  phase: 'ABORTED',
  error: { code: 'REMOVED', message: 'It had ended and was removed; its outcome is unknown.' },
}

/** Starts the workload, or adopts it when it runs already. Returns the report when neither is possible. */
async function begin(
  { runtime, client }: RuntimeWorkOptions,
  item: WorkItem,
  context: WorkContext,
): Promise<WorkOutcome> {
  if (await runtime.updateReceipt(item.objectId, writeReceipt(item))) return null
  if (context.signal.aborted) return { phase: 'ABORTED' }
  const read = readWorkload(item, context.traceparent)
  if (!read)
    return notStarted(
      item,
      'START_FAILED',
      'Its config cannot be read: its secrets cannot be decrypted, or it is gone.',
    )
  const missing = read.takes.find(({ found }) => found === null)
  if (missing) return notStarted(item, 'START_FAILED', missingMessage(missing))
  const takes = read.takes.flatMap((take) => taken(client, take, context.signal))
  try {
    await runtime.start({ ...read, takes, leaves: artifactsOf(item).length > 0 }, writeReceipt(item), context.signal)
    return null
  } catch (error) {
    if (context.signal.aborted) return { phase: 'ABORTED' }
    for (const line of error instanceof StartProblem ? error.output : []) context.log('SYSTEM', line)
    if (error instanceof StartProblem) return notStarted(item, error.code, error.message)
    if (error instanceof ArtifactProblem) return notStarted(item, 'START_FAILED', error.message)
    throw error
  }
}

const missingMessage = ({ artifact, from }: TakenSpec): string =>
  `There is no artifact ${artifact}${from === null ? '' : ` of the job ${from}`} in its event: that job has not ended yet, has not left it, or it has expired.`

/** Nothing is downloaded before it is read. */
function taken(client: Client, { artifact, path, found }: TakenSpec, signal: AbortSignal): readonly Taken[] {
  if (!found) return []
  const { id, isFolder, size } = found
  async function* body(): AsyncGenerator<Uint8Array> {
    yield* (await client.readArtifact(id, { signal })).body
  }
  return [{ artifact, path, isFolder, size, body: body() }]
}

/** A later attempt may be UNKNOWN, from where no transition leads to SCHEDULING_FAILED. */
const notStarted = ({ attempt }: WorkItem, code: StartProblemCode, message: string): WorkOutcome => ({
  phase: attempt > 1 ? 'FAILED' : 'SCHEDULING_FAILED',
  error: { code, message },
})

interface Following {
  /** Null: following ended before the workload did, or before its artifacts were kept. */
  readonly ended: Promise<Ended | null>
  /** Stops following, so that a newer lease can follow the workload. */
  detach(): Promise<unknown>
  isDetached(): boolean
}

interface Ended {
  readonly end: WorkloadEnd
  /** Why it fails all the same; null: it has left all that it must. */
  readonly notLeft: ReportedError | null
}

function follow(options: RuntimeWorkOptions, item: WorkItem, context: WorkContext): Following {
  const { runtime, client } = options
  const { objectId } = item
  const detached = new AbortController()
  const { signal, lost } = context
  const stop = (): void => {
    // The end of the workload is then reported like any other.
    if ((signal.reason as StopReason) === 'ABORT_REQUESTED') void runtime.stop(objectId).catch(() => {})
    else detached.abort()
  }
  if (signal.aborted) stop()
  else signal.addEventListener('abort', stop, { once: true })
  let isRunning = false
  const onRunning = (commit?: string | null): void => {
    if (!isRunning && !signal.aborted) context.report({ phase: 'RUNNING', ...(commit ? ofCommit(commit) : {}) })
    isRunning = true
  }
  const watcher = {
    onRunning,
    onLine: (stream: OutputStream, text: string) => context.log(stream, text),
    signal: AbortSignal.any([detached.signal, lost]),
  }
  const ended = watch(options, objectId, watcher).then(async (end): Promise<Ended | null> => {
    if (end?.how !== 'EXITED') return end && { end, notLeft: null }
    // A workload that ended before anybody watched has run, too.
    onRunning(end.commit)
    const notLeft = await leaveArtifacts({ ...watcher, runtime, client, item, hasSucceeded: end.exitCode === 0 })
    if (watcher.signal.aborted) return null
    return { end, notLeft }
  })
  let isDetached = false
  return {
    ended,
    isDetached: () => isDetached,
    detach() {
      isDetached = true
      detached.abort()
      return ended
    },
  }
}

const ofCommit = (commit: string) => ({ message: `It has cloned the commit ${commit}.`, exports: { commit } })

/** Retries when the runtime fails to watch, which says nothing about the workload. */
async function watch({ runtime, onProblem }: RuntimeWorkOptions, id: string, watcher: Watcher) {
  for (let failures = 0; !watcher.signal.aborted; failures += 1) {
    try {
      return await runtime.watch(id, watcher)
    } catch (error) {
      onProblem({ error: asError(error), objectId: id })
      await pause(retryDelay(failures), watcher.signal)
    }
  }
  return null
}

/** Its removal closes it at the latest. */
const CLOSE_TRIES = 10
const OBJECT = gql('query Object($id: ID!) { object(id: $id) { finished } }')

/** A lost lease alone does not say whether the workload is needed: this very agent may claim the work again. */
async function stopIfUnneeded({ runtime, client, signal }: RuntimeWorkOptions, id: string): Promise<void> {
  for (let failures = 0; !signal.aborted; failures += 1) {
    try {
      if (await isUnneeded(client, id, signal)) await runtime.stop(id)
      return
    } catch {
      await pause(retryDelay(failures), signal)
    }
  }
}

/** A report that is lost makes the START come again, which reads all that is left once more: it stays until the end is known. */
async function closeUnneeded({ runtime, client, signal }: RuntimeWorkOptions, id: string, isRemoved: () => boolean) {
  if (!runtime.closeLeft) return
  for (let tries = 0; tries < CLOSE_TRIES && !signal.aborted && !isRemoved(); tries += 1) {
    await pause(retryDelay(tries), signal)
    if (await isUnneeded(client, id, signal).catch(() => false)) return await runtime.closeLeft(id).catch(() => {})
  }
}

async function isUnneeded(client: Client, id: string, signal: AbortSignal): Promise<boolean> {
  const { object } = await client.query(OBJECT, { id }, { signal })
  return !object || object.finished
}

function outcomeOf(item: WorkItem, { end, notLeft }: Ended): WorkOutcome {
  switch (end.how) {
    case 'EXITED':
      return exited(end, notLeft)
    case 'STOPPED':
      return { phase: 'ABORTED', message: 'It was stopped.' }
    case 'GONE':
      return { phase: 'ABORTED', error: { code: end.reason, message: end.message } }
    case 'NOT_STARTED':
      return notStarted(item, end.code ?? 'START_FAILED', end.message)
    default:
      return end satisfies never
  }
}

function exited(
  { exitCode, signal, outOfMemory }: Extract<WorkloadEnd, { how: 'EXITED' }>,
  notLeft: ReportedError | null,
): WorkOutcome {
  const exports = { exitCode, signal }
  if (exitCode === 0) return notLeft ? { phase: 'FAILED', exports, error: notLeft } : { phase: 'SUCCEEDED', exports }
  if (outOfMemory) return { phase: 'FAILED', exports, error: OUT_OF_MEMORY }
  const error =
    signal === null
      ? { code: 'EXIT_CODE', message: `It ended with exit code ${exitCode}.` }
      : { code: 'SIGNAL', message: `It was ended by ${signal}.` }
  return { phase: 'FAILED', exports, error }
}
const OUT_OF_MEMORY = { code: 'OUT_OF_MEMORY', message: 'It was ended because it used more memory than it may.' }
