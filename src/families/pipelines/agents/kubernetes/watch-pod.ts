import type { V1Pod } from '@kubernetes/client-node'
import { type KubernetesApi, unless } from '../../../../agents/kubernetes/api.ts'
import { type PendingProblem, ProblemTimeout } from '../../../../agents/kubernetes/pending-problem.ts'
import { orAborted } from '../../../../agents/or-aborted.ts'
import type { Output } from '../runtime/output.ts'
import type { Watcher, WorkloadEnd } from '../runtime/runtime.ts'
import { type LogPosition, readPosition } from './log-lines.ts'
import { ANNOTATIONS } from './names.ts'
import type { PodFeed } from './pod-feed.ts'
import { followLog } from './pod-log.ts'
import { commitOf, DELETED, stateOf } from './pod-state.ts'
import type { PodSettings } from './settings.ts'

export interface WatchPodOptions extends PodAddress {
  readonly output: Output
  onPosition(position: LogPosition): void
  /** Called when the pod runs; an adopted one was started by an earlier process. */
  onAlive(): void
  /** Called with each state of the pod. */
  onPod?(pod: V1Pod): void
  readonly settings: Pick<PodSettings, 'schedulingSeconds' | 'imagePullSeconds'>
}

/** How long a pod may have which problem, in milliseconds. */
export const problemLimits = ({
  imagePullSeconds,
  schedulingSeconds,
}: WatchPodOptions['settings']): Readonly<Record<PendingProblem['kind'], number>> => ({
  ...{ FINAL: 0, IMAGE: imagePullSeconds * 1_000, SCHEDULING: schedulingSeconds * 1_000 },
})

/** Passes on the output of a pod until its end. Null: the signal aborted. */
export async function watchPod(options: WatchPodOptions, watcher: Watcher): Promise<WorkloadEnd | null> {
  const { signal, onRunning, onLine } = watcher
  using changes = new PodChanges(options)
  const ended = new AbortController()
  const timeout = new ProblemTimeout<PendingProblem['kind']>(problemLimits(options.settings))
  let log: Promise<boolean> | null = null
  let isGivenUp = false
  const readLog = (pod: V1Pod | null): Promise<boolean> => {
    const position = readPosition(pod?.metadata?.annotations?.[ANNOTATIONS.logged])
    return followLog({ ...options, position, ended: ended.signal, signal })
  }
  while (!signal.aborted) {
    const pod = await changes.next(timeout.remainingMs, signal)
    if (pod === undefined) continue
    if (pod) options.onPod?.(pod)
    const state = pod ? stateOf(pod) : ({ is: 'OVER', end: DELETED, hasOutput: false } as const)
    if (state.is === 'RUNNING' && !log) {
      options.onAlive()
      onRunning(pod && commitOf(pod))
      log = readLog(pod)
    }
    if (state.is === 'PENDING') {
      const problem = timeout.expired(state.problem)
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
export class PodChanges {
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
    const late = new AbortController()
    const timer = ms < Number.POSITIVE_INFINITY ? setTimeout(() => late.abort(), ms) : undefined
    await orAborted(this.#wake.promise, AbortSignal.any([signal, late.signal]))
    clearTimeout(timer)
    if (signal.aborted) return undefined
    if (this.#latest === undefined) await this.#refresh()
    const latest = this.#latest
    this.#latest = undefined
    this.#wake = Promise.withResolvers()
    return latest
  }

  [Symbol.dispose](): void {
    this.#following[Symbol.dispose]()
  }
}

/** Statuses of requests about a pod that has changed or is gone. */
const CHANGED = [404, 409]

/** Deletes a pod that has not run. False: it has changed meanwhile. */
async function giveUp({ api, path }: WatchPodOptions, pod: V1Pod, { message }: PendingProblem): Promise<boolean> {
  const end = JSON.stringify({ how: 'NOT_STARTED', message })
  const { resourceVersion } = pod.metadata ?? {}
  const annotate = (metadata: object) => unless(CHANGED, api.patch<V1Pod>(path, { metadata }))
  const decided = await annotate({ resourceVersion, annotations: { [ANNOTATIONS.end]: end } })
  if (!decided) return false
  const preconditions = { resourceVersion: decided.metadata?.resourceVersion }
  const deletion = api.delete(path, { gracePeriodSeconds: 0, preconditions })
  const isDeleted = (await unless(CHANGED, deletion)) !== null
  if (!isDeleted) await annotate({ annotations: { [ANNOTATIONS.end]: null } })
  return isDeleted
}
