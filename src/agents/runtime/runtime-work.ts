import type { Client, StopReason, Work, WorkContext, WorkItem, WorkOutcome } from '../../client/index.ts'
import { pause, retryDelay } from '../../client/pause.ts'
import { gql } from '../../documents/gql.ts'
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

/** The answer to a claim travels no longer. */
const LATE_MS = 600_000

/**
 * What a runtime's agent does with its work. A START lasts as long as its workload and ends with its report; when the
 * agent ends the workload goes on. A workload is ended when its object needs it no more: by its REMOVE, or as soon as its
 * lease is lost and the server says that the object is finished or gone. In doubt it goes on.
 */
export function runtimeWork(options: RuntimeWorkOptions): Work {
  const turns = new Map<string, Promise<unknown>>()
  const following = new Map<string, Following>()
  /** When each was removed, first ones first: the answer with its START may come later than the one with its REMOVE. */
  const removed = new Map<string, number>()

  /** START and REMOVE of one object in the order of their claims. */
  function inTurn<T>({ objectId }: WorkItem, task: () => Promise<T>): Promise<T> {
    const turn = (turns.get(objectId) ?? Promise.resolve()).then(task, task)
    turns.set(objectId, turn)
    const leave = (): void => void (turns.get(objectId) === turn && turns.delete(objectId))
    turn.then(leave, leave)
    return turn
  }

  async function start(item: WorkItem, context: WorkContext): Promise<WorkOutcome> {
    const { objectId } = item
    const begun = await inTurn(item, async (): Promise<{ refused: WorkOutcome } | { mine: Following }> => {
      if (removed.has(objectId)) return { refused: null }
      // A lease that ended is claimed anew by this very agent, which may still follow the workload for the old one.
      await following.get(objectId)?.leave()
      const refused = await begin(options.runtime, item, context)
      if (refused) return { refused }
      const mine = follow(options, item, context)
      following.set(objectId, mine)
      return { mine }
    })
    if ('refused' in begun) return begun.refused
    const { mine } = begun
    const end = await mine.ended
    if (following.get(objectId) === mine) following.delete(objectId)
    if (end) return outcomeOf(end)
    if (context.lost.aborted && !mine.isLeft()) await settle(options, objectId)
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
      // It says nothing about the workload, so nothing is reported: it is offered again when its lease has ended.
      options.onProblem({ error: asError(error), objectId: item.objectId })
      return null
    }
  }
}

/** Starts the workload, or adopts it when it is here already. Returns what to report when neither is possible. */
async function begin(runtime: Runtime, item: WorkItem, context: WorkContext): Promise<WorkOutcome> {
  if (await runtime.keep(item.objectId, writeReceipt(item))) return null
  if (context.signal.aborted) return { phase: 'ABORTED' }
  const workload = readWorkload(item)
  if (!workload) return notStarted(item, 'What to run cannot be read: its secrets cannot be opened, or it is gone.')
  try {
    await runtime.start(workload, writeReceipt(item))
    return null
  } catch (error) {
    if (error instanceof StartProblem) return notStarted(item, error.message)
    throw error
  }
}

/** From UNKNOWN, where one that is offered again may be, there is no way to SCHEDULING_FAILED. */
const notStarted = ({ attempt }: WorkItem, message: string): WorkOutcome => ({
  phase: attempt > 1 ? 'FAILED' : 'SCHEDULING_FAILED',
  error: { code: 'START_FAILED', message },
})

interface Following {
  /** Null: it was left. */
  readonly ended: Promise<WorkloadEnd | null>
  /** Somebody else is going to follow it. */
  leave(): Promise<unknown>
  isLeft(): boolean
}

function follow(options: RuntimeWorkOptions, { objectId }: WorkItem, context: WorkContext): Following {
  const { runtime } = options
  const left = new AbortController()
  const { signal, lost } = context
  const stop = (): void => {
    // Its end is then reported like any other.
    if ((signal.reason as StopReason) === 'ABORT_REQUESTED') void runtime.stop(objectId).catch(() => {})
    else left.abort()
  }
  if (signal.aborted) stop()
  else {
    context.report({ phase: 'RUNNING' })
    signal.addEventListener('abort', stop, { once: true })
  }
  const ended = watch(options, objectId, {
    onLine: (stream, text) => context.log(stream, text),
    signal: AbortSignal.any([left.signal, lost]),
  })
  let isLeft = false
  return {
    ended,
    isLeft: () => isLeft,
    leave() {
      isLeft = true
      left.abort()
      return ended
    },
  }
}

/** A runtime that cannot watch just now says nothing about the workload: it is asked again. */
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

const asError = (thrown: unknown): Error => (thrown instanceof Error ? thrown : new Error(String(thrown)))

const OBJECT = gql('query Object($id: ID!) { object(id: $id) { finished } }')

/** A lost lease alone does not say whether the workload is needed: this very agent may get the work again. */
async function settle({ runtime, client, signal }: RuntimeWorkOptions, id: string): Promise<void> {
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

function outcomeOf(end: WorkloadEnd): WorkOutcome {
  switch (end.how) {
    case 'EXITED':
      return exited(end)
    case 'STOPPED':
      return { phase: 'ABORTED', message: 'It was stopped.' }
    case 'GONE':
      return { phase: 'ABORTED', error: { code: 'DELETED', message: 'Its process was ended from outside.' } }
    default:
      return end satisfies never
  }
}

function exited({ exitCode, signal }: Extract<WorkloadEnd, { how: 'EXITED' }>): WorkOutcome {
  const exports = { exitCode, signal }
  if (exitCode === 0) return { phase: 'SUCCEEDED', exports }
  const error =
    signal === null
      ? { code: 'EXIT_CODE', message: `It ended with exit code ${exitCode}.` }
      : { code: 'SIGNAL', message: `It was ended by ${signal}.` }
  return { phase: 'FAILED', exports, error }
}
