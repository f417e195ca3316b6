import { asError } from '../../../../client/as-error.ts'
import type { Client, StopReason, Work, WorkContext, WorkItem, WorkOutcome } from '../../../../client/index.ts'
import { pause, retryDelay } from '../../../../client/pause.ts'
import { gql } from '../../../../documents/gql.ts'
import { writeReceipt } from './receipt.ts'
import { type Runtime, StartProblem, type Watcher, type WorkloadEnd } from './runtime.ts'
import { readWorkload, readWorkspace } from './start-config.ts'

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
  const turns = new Map<string, Promise<unknown>>()
  const followed = new Map<string, Following>()
  /**
   * Removal times, oldest first: the answer with a START may arrive after the one with its REMOVE. Its report then comes too late, unless
   * the server's database has become an older one, which does not know of the end.
   */
  const removed = new Map<string, number>()

  /** Serialises START and REMOVE of one object in the order of their claims. */
  function inTurn<T>({ objectId }: WorkItem, task: () => Promise<T>): Promise<T> {
    const turn = (turns.get(objectId) ?? Promise.resolve()).then(task, task)
    turns.set(objectId, turn)
    const release = (): void => void (turns.get(objectId) === turn && turns.delete(objectId))
    turn.then(release, release)
    return turn
  }

  async function start(item: WorkItem, context: WorkContext): Promise<WorkOutcome> {
    const { objectId } = item
    const begun = await inTurn(item, async (): Promise<{ refused: WorkOutcome } | { following: Following }> => {
      if (removed.has(objectId)) return { refused: REMOVED }
      // This agent may have claimed the work again after its lease expired, and still follow the workload for the old one.
      await followed.get(objectId)?.detach()
      const refused = await begin(options.runtime, item, context)
      if (refused) return { refused }
      const following = follow(options, item, context)
      followed.set(objectId, following)
      return { following }
    })
    if ('refused' in begun) return begun.refused
    const { following } = begun
    const end = await following.ended
    if (followed.get(objectId) === following) followed.delete(objectId)
    if (end) return outcomeOf(item, end)
    if (context.lost.aborted && !following.isDetached()) await stopIfUnneeded(options, objectId)
    return null
  }

  async function remove(item: WorkItem): Promise<WorkOutcome> {
    const now = performance.now()
    for (const [id, at] of removed) {
      if (now - at < LATE_MS) break
      removed.delete(id)
    }
    removed.set(item.objectId, now)
    await inTurn(item, () => options.runtime.remove(item.objectId, readWorkspace(item)))
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

const REMOVED: WorkOutcome = {
  phase: 'ABORTED',
  error: { code: 'REMOVED', message: 'It had ended and was removed; its outcome is unknown.' },
}

/** Starts the workload, or adopts it when it runs already. Returns the report when neither is possible. */
async function begin(runtime: Runtime, item: WorkItem, context: WorkContext): Promise<WorkOutcome> {
  if (await runtime.updateReceipt(item.objectId, writeReceipt(item))) return null
  if (context.signal.aborted) return { phase: 'ABORTED' }
  const workload = readWorkload(item, context.traceparent)
  if (!workload) return notStarted(item, 'Its config cannot be read: its secrets cannot be decrypted, or it is gone.')
  try {
    await runtime.start(workload, writeReceipt(item), context.signal)
    return null
  } catch (error) {
    if (context.signal.aborted) return { phase: 'ABORTED' }
    if (error instanceof StartProblem) return notStarted(item, error.message)
    throw error
  }
}

/** A later attempt may be UNKNOWN, from where no transition leads to SCHEDULING_FAILED. */
const notStarted = ({ attempt }: WorkItem, message: string): WorkOutcome => ({
  phase: attempt > 1 ? 'FAILED' : 'SCHEDULING_FAILED',
  error: { code: 'START_FAILED', message },
})

interface Following {
  /** Null: following ended before the workload did. */
  readonly ended: Promise<WorkloadEnd | null>
  /** Stops following, so that a newer lease can follow the workload. */
  detach(): Promise<unknown>
  isDetached(): boolean
}

function follow(options: RuntimeWorkOptions, { objectId }: WorkItem, context: WorkContext): Following {
  const { runtime } = options
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
  const onRunning = (): void => {
    if (!isRunning && !signal.aborted) context.report({ phase: 'RUNNING' })
    isRunning = true
  }
  const ended = watch(options, objectId, {
    onRunning,
    onLine: (stream, text) => context.log(stream, text),
    signal: AbortSignal.any([detached.signal, lost]),
  }).then((end) => {
    // A workload that ended before anybody watched has run, too.
    if (end?.how === 'EXITED') onRunning()
    return end
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

const OBJECT = gql('query Object($id: ID!) { object(id: $id) { finished } }')

/** A lost lease alone does not say whether the workload is needed: this very agent may claim the work again. */
async function stopIfUnneeded({ runtime, client, signal }: RuntimeWorkOptions, id: string): Promise<void> {
  for (let failures = 0; !signal.aborted; failures += 1) {
    try {
      const { object } = await client.query(OBJECT, { id }, { signal })
      if (!object || object.finished) await runtime.stop(id)
      return
    } catch {
      await pause(retryDelay(failures), signal)
    }
  }
}

function outcomeOf(item: WorkItem, end: WorkloadEnd): WorkOutcome {
  switch (end.how) {
    case 'EXITED':
      return exited(end)
    case 'STOPPED':
      return { phase: 'ABORTED', message: 'It was stopped.' }
    case 'GONE':
      return { phase: 'ABORTED', error: { code: end.reason, message: end.message } }
    case 'NOT_STARTED':
      return notStarted(item, end.message)
    default:
      return end satisfies never
  }
}

function exited({ exitCode, signal, outOfMemory }: Extract<WorkloadEnd, { how: 'EXITED' }>): WorkOutcome {
  const exports = { exitCode, signal }
  if (exitCode === 0) return { phase: 'SUCCEEDED', exports }
  if (outOfMemory) return { phase: 'FAILED', exports, error: OUT_OF_MEMORY }
  const error =
    signal === null
      ? { code: 'EXIT_CODE', message: `It ended with exit code ${exitCode}.` }
      : { code: 'SIGNAL', message: `It was ended by ${signal}.` }
  return { phase: 'FAILED', exports, error }
}
const OUT_OF_MEMORY = { code: 'OUT_OF_MEMORY', message: 'It was ended because it used more memory than it may.' }
