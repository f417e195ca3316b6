import type { V1Pod } from '@kubernetes/client-node'
import { isStatus, type KubernetesApi } from '../../../../agents/kubernetes/api.ts'
import { Patience } from '../../../../agents/kubernetes/patience.ts'
import type { PendingProblem } from '../../../../agents/kubernetes/pending-problem.ts'
import type { Output } from '../runtime/output.ts'
import type { Watcher, WorkloadEnd } from '../runtime/runtime.ts'
import { type LogPosition, readPosition } from './log-lines.ts'
import { ANNOTATIONS } from './names.ts'
import type { PodFeed } from './pod-feed.ts'
import { followLog } from './pod-log.ts'
import { DELETED, stateOf } from './pod-state.ts'
import type { PodSettings } from './settings.ts'

export interface WatchPodOptions extends PodAddress {
  readonly output: Output
  onPosition(position: LogPosition): void
  /** Called when the pod runs; an adopted one was started by an earlier process. */
  onAlive(): void
  readonly settings: Pick<PodSettings, 'schedulingSeconds' | 'imagePullSeconds'>
}

/** Passes on the output of a pod until its end. Null: the signal aborted. */
export async function watchPod(options: WatchPodOptions, watcher: Watcher): Promise<WorkloadEnd | null> {
  const { signal, onRunning, onLine } = watcher
  using changes = new PodChanges(options)
  const ended = new AbortController()
  const { imagePullSeconds, schedulingSeconds } = options.settings
  const limits = { FINAL: 0, IMAGE: imagePullSeconds * 1_000, SCHEDULING: schedulingSeconds * 1_000 }
  const patience = new Patience<PendingProblem['kind']>(limits)
  let log: Promise<boolean> | null = null
  let isGivenUp = false
  const readLog = (pod: V1Pod | null): Promise<boolean> => {
    const position = readPosition(pod?.metadata?.annotations?.[ANNOTATIONS.logged])
    return followLog({ ...options, position, ended: ended.signal, signal })
  }
  while (!signal.aborted) {
    const pod = await changes.next(patience.remainingMs, signal)
    if (pod === undefined) continue
    const state = pod ? stateOf(pod) : ({ is: 'OVER', end: DELETED, hasOutput: false } as const)
    if (state.is === 'RUNNING' && !log) {
      options.onAlive()
      onRunning()
      log = readLog(pod)
    }
    if (state.is === 'PENDING') {
      const problem = patience.judge(state.problem)
      if (problem && pod && !isGivenUp) isGivenUp = await giveUp(options, pod, problem)
    }
    if (state.is === 'OVER') {
      ended.abort()
      if (state.hasOutput) log ??= readLog(pod)
      if ((await log) === false && !signal.aborted) onLine('SYSTEM', 'The end of its output could not be read.')
      return signal.aborted ? null : state.end
    }
  }
  await log
  return null
}

/** Resolves when no process of a pod runs any more, or the signal aborts. */
export async function untilOver(pod: PodAddress, signal: AbortSignal): Promise<void> {
  using changes = new PodChanges(pod)
  while (!signal.aborted) {
    const found = await changes.next(Number.POSITIVE_INFINITY, signal)
    if (found === null || (found && stateOf(found).is === 'OVER')) return
  }
}

export interface PodAddress {
  readonly api: KubernetesApi
  readonly feed: PodFeed
  readonly name: string
  /** The pod's path. */
  readonly path: string
}

/** The latest state of one pod. */
class PodChanges {
  readonly #following: Disposable
  readonly #refresh: () => Promise<void>
  readonly #first: Promise<void>
  /** Undefined: nothing new. */
  #latest: V1Pod | null | undefined
  #wake = Promise.withResolvers<void>()

  constructor({ api, feed, name, path }: PodAddress) {
    this.#following = feed.follow(name, (pod) => this.#take(pod))
    this.#refresh = async () => {
      const pod = await api.find<V1Pod>(path)
      // The feed's state may be newer meanwhile: it reports changes in order; an answer may be late.
      if (this.#latest === undefined) this.#take(pod)
    }
    this.#first = this.#refresh()
    this.#first.catch(() => {})
  }

  #take(pod: V1Pod | null): void {
    this.#latest = pod
    this.#wake.resolve()
  }

  /** Null: the pod is gone. Undefined: the signal aborted. The latest state again after `ms`. */
  async next(ms: number, signal: AbortSignal): Promise<V1Pod | null | undefined> {
    await this.#first
    const given = Promise.withResolvers<void>()
    const timer = ms < Number.POSITIVE_INFINITY ? setTimeout(() => given.resolve(), ms) : undefined
    const abort = (): void => given.resolve()
    signal.addEventListener('abort', abort, { once: true })
    try {
      if (!signal.aborted) await Promise.race([this.#wake.promise, given.promise])
      if (signal.aborted) return undefined
      if (this.#latest === undefined) await this.#refresh()
    } finally {
      clearTimeout(timer)
      signal.removeEventListener('abort', abort)
    }
    const latest = this.#latest
    this.#latest = undefined
    this.#wake = Promise.withResolvers()
    return latest
  }

  [Symbol.dispose](): void {
    this.#following[Symbol.dispose]()
  }
}

/** Deletes a pod that has not run. False: it has changed meanwhile. */
async function giveUp({ api, path }: WatchPodOptions, pod: V1Pod, { message }: PendingProblem): Promise<boolean> {
  const end = JSON.stringify({ how: 'NOT_STARTED', message })
  const { resourceVersion } = pod.metadata ?? {}
  const marked = await unlessChanged(
    api.patch<V1Pod>(path, { metadata: { resourceVersion, annotations: { [ANNOTATIONS.end]: end } } }),
  )
  if (!marked) return false
  const preconditions = { resourceVersion: marked.metadata?.resourceVersion }
  const deleted = await unlessChanged(api.delete(path, { gracePeriodSeconds: 0, preconditions }).then(() => true))
  if (!deleted) await unlessChanged(api.patch(path, { metadata: { annotations: { [ANNOTATIONS.end]: null } } }))
  return deleted === true
}

async function unlessChanged<T>(request: Promise<T>): Promise<T | null> {
  try {
    return await request
  } catch (error) {
    if (isStatus(error, 404, 409)) return null
    throw error
  }
}
