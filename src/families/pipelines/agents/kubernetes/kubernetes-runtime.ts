import type { KubeConfig, V1ConfigMap, V1Pod, V1Secret } from '@kubernetes/client-node'
import { ApiError, isStatus, KubernetesApi } from '../../../../agents/kubernetes/api.ts'
import { Mask } from '../../../../agents/mask.ts'
import { pause } from '../../../../client/pause.ts'
import { OUTPUT_LIMITS, Output, type OutputLimits } from '../runtime/output.ts'
import {
  type KnownWorkload,
  type Runtime,
  StartProblem,
  type Watcher,
  type Workload,
  type WorkloadEnd,
} from '../runtime/runtime.ts'
import { claimOf, filesOf, maskedBy, secretOf } from './inputs-of.ts'
import { ANNOTATIONS, claimName, FINALIZER, isId, LABELS, workloadName } from './names.ts'
import { PodFeed } from './pod-feed.ts'
import { podOf } from './pod-of.ts'
import { type PodState, stateOf } from './pod-state.ts'
import { PositionNotes } from './position-notes.ts'
import type { PodSettings } from './settings.ts'
import { type PodAddress, untilOver, watchPod } from './watch-pod.ts'

export interface KubernetesRuntimeOptions {
  readonly config: KubeConfig
  /** Names the place, shared by all replicas of the runtime. */
  readonly instance: string
  /** Names this replica, the same after a restart. */
  readonly replica: string
  readonly namespace: string
  /** The API's URL as pods reach it. */
  readonly url: string
  readonly settings: PodSettings
  /** Milliseconds from SIGTERM to SIGKILL, in whole seconds; 10,000 by default. */
  readonly graceMs?: number | undefined
  readonly output?: OutputLimits | undefined
  /** The cluster cannot be watched. */
  onProblem(error: Error): void
}

const GRACE_MS = 10_000
/** A node may need so much longer than the grace to say that a pod has ended. */
const LATE_SECONDS = 5
/** How long the last notes may take. */
const CLOSE_MS = 3_000

/**
 * The runtime of a namespace in a cluster: each workload is a pod. The cluster keeps all that there is to know, so any
 * number of replicas may share the place. Disposing leaves all pods running.
 */
export function openKubernetesRuntime(options: KubernetesRuntimeOptions): Runtime {
  return new KubernetesRuntime(options)
}

class KubernetesRuntime implements Runtime {
  readonly instance: string
  readonly #options: KubernetesRuntimeOptions
  /** Ends the watching, and then all requests. */
  readonly #detaching = new AbortController()
  readonly #closing = new AbortController()
  readonly #api: KubernetesApi
  readonly #feed: PodFeed
  readonly #graceSeconds: number
  /** Secrets of the workloads that this very process has started or adopted. */
  readonly #own = new Map<string, Mask>()
  readonly #watching = new Map<string, Promise<unknown>>()

  constructor(options: KubernetesRuntimeOptions) {
    const { config, instance, graceMs = GRACE_MS, onProblem } = options
    this.instance = instance
    this.#options = options
    this.#graceSeconds = Math.max(1, Math.ceil(graceMs / 1_000))
    this.#api = new KubernetesApi(config, this.#closing.signal)
    const labelSelector = `${LABELS.place}=${instance}`
    const { signal } = this.#detaching
    this.#feed = new PodFeed({ api: this.#api, path: this.#path('pods'), labelSelector, signal, onProblem })
  }

  #path(kind: string, name?: string): string {
    const collection = `/api/v1/namespaces/${this.#options.namespace}/${kind}`
    return name === undefined ? collection : `${collection}/${name}`
  }
  #pod(id: string): string {
    return this.#path('pods', workloadName(id))
  }
  #address(id: string): PodAddress {
    return { api: this.#api, feed: this.#feed, name: workloadName(id), path: this.#pod(id) }
  }

  /**
   * Workloads of this replica. Another replica keeps its own as long as its leases hold. A pod whose end was passed on is left out,
   * so that ten thousand pods that wait for their removal delay no start. If that end was not reported, its START comes again.
   */
  async list(): Promise<readonly KnownWorkload[]> {
    const { instance, replica } = this.#options
    const { pods } = await this.#feed.list({
      labelSelector: `${LABELS.place}=${instance},${LABELS.replica}=${replica}`,
    })
    return pods.flatMap(({ metadata }) => {
      const id = metadata?.labels?.[LABELS.object]
      const receipt = metadata?.annotations?.[ANNOTATIONS.receipt]
      return id && receipt ? [{ id, receipt }] : []
    })
  }

  async start(workload: Workload, receipt: string, signal?: AbortSignal): Promise<void> {
    const { id, workspace, workerId } = workload
    if (![id, workspace ?? id, workerId].every(isId)) throw new StartProblem('Its id cannot be the name of a pod.')
    try {
      const secret = await this.#provide(workload, signal)
      signal?.throwIfAborted()
      await this.#createPod(workload, receipt, secret)
      this.#own.set(id, new Mask(maskedBy(secret)))
    } catch (error) {
      // Another replica may have started it.
      if (await this.#api.find(this.#pod(id))) throw error
      await this.#removeInputs(id)
      if (error instanceof ApiError) throw new StartProblem(`It could not be started: ${error.message}`)
      throw error
    }
  }

  /** Creates the objects that the pod needs, or reuses those of an interrupted start. */
  async #provide(workload: Workload, signal: AbortSignal | undefined): Promise<V1Secret> {
    const { instance, settings } = this.#options
    const secret = await this.#create('secrets', secretOf(workload, instance), signal)
    if (workload.files.length > 0) await this.#create('configmaps', filesOf(workload, instance, secret), signal)
    if (workload.workspace !== null) {
      const claim = claimOf(workload, instance, settings, secret)
      await this.#api.post(this.#path('persistentvolumeclaims'), claim, signal).catch((error: unknown) => {
        if (!isStatus(error, 409)) throw error
      })
    }
    return secret
  }

  async #create<T extends V1Secret | V1ConfigMap>(kind: string, object: T, signal?: AbortSignal): Promise<T> {
    try {
      return await this.#api.post<T>(this.#path(kind), object, signal)
    } catch (error) {
      const { name = '' } = object.metadata ?? {}
      if (isStatus(error, 409)) return await this.#api.patch<T>(this.#path(kind, name), { data: object.data })
      // Its message may quote what is refused.
      if (isStatus(error, 403) || !(error instanceof ApiError)) throw error
      throw new ApiError(error.status, error.reason, `The cluster refuses its ${kind}: ${error.reason}.`)
    }
  }

  async #createPod(workload: Workload, receipt: string, secret: V1Secret): Promise<void> {
    const { instance: place, replica, url, settings } = this.#options
    const plan = { workload, place, replica, receipt, url, graceSeconds: this.#graceSeconds, settings }
    try {
      await this.#api.post(this.#path('pods'), podOf(plan, secret))
    } catch (error) {
      if (!isStatus(error, 409)) throw error
      // The answer to an earlier attempt of this very request may be lost.
      const found = await this.#api.find<V1Pod>(this.#pod(workload.id))
      if (found?.metadata?.annotations?.[ANNOTATIONS.receipt] !== receipt)
        throw new Error(`The workload ${workload.id} exists already.`)
    }
  }

  async updateReceipt(id: string, receipt: string): Promise<boolean> {
    if (!isId(id)) return false
    const labels = { [LABELS.replica]: this.#options.replica }
    const annotations = { [ANNOTATIONS.receipt]: receipt }
    return await this.#annotate(id, { labels, annotations })
  }

  /** False: there is no such pod. */
  async #annotate(id: string, metadata: Readonly<Record<string, unknown>>): Promise<boolean> {
    try {
      await this.#api.patch(this.#pod(id), { metadata })
      return true
    } catch (error) {
      if (isStatus(error, 404)) return false
      throw error
    }
  }

  async watch(id: string, watcher: Watcher): Promise<WorkloadEnd | null> {
    if (this.#watching.has(id)) throw new Error(`The workload ${id} is watched already.`)
    const watching = this.#watch(id, watcher)
    this.#watching.set(id, watching)
    try {
      return await watching
    } finally {
      this.#watching.delete(id)
    }
  }

  async #watch(id: string, watcher: Watcher): Promise<WorkloadEnd | null> {
    const isOwn = this.#own.has(id)
    const { onLine } = watcher
    const { output: limits = OUTPUT_LIMITS, settings } = this.#options
    const output = new Output({ limits, mask: await this.#mask(id), onLine, now: () => performance.now() })
    const notes = new PositionNotes((metadata) => this.#annotate(id, metadata))
    let end: WorkloadEnd | null = null
    try {
      end = await watchPod(
        {
          ...{ ...this.#address(id), settings, output },
          onPosition: (position) => notes.set(position),
          onAlive: () => {
            if (!isOwn) onLine('SYSTEM', 'Its runtime is back and has adopted it.')
          },
        },
        {
          onRunning: () => watcher.onRunning(),
          onLine,
          signal: AbortSignal.any([watcher.signal, this.#detaching.signal]),
        },
      )
      return end
    } finally {
      output.end()
      await notes.close(end === null ? {} : { labels: { [LABELS.replica]: null } })
    }
  }

  async #mask(id: string): Promise<Mask> {
    const known = this.#own.get(id)
    if (known || !isId(id)) return known ?? new Mask([])
    const secret = await this.#api.find<V1Secret>(this.#path('secrets', workloadName(id)))
    const mask = new Mask(secret ? maskedBy(secret) : [])
    this.#own.set(id, mask)
    return mask
  }

  async stop(id: string): Promise<void> {
    if (isId(id)) await this.#stop(id)
  }

  /** Returns the pod, which is over. */
  async #stop(id: string): Promise<V1Pod | null> {
    const pod = await this.#api.find<V1Pod>(this.#pod(id))
    if (!pod || stateOf(pod).is === 'OVER') return pod
    const isKnown = await this.#annotate(id, { annotations: { [ANNOTATIONS.end]: JSON.stringify({ how: 'STOPPED' }) } })
    if (!isKnown) return null
    await this.#endPod(id, stateOf(pod))
    return await this.#api.find<V1Pod>(this.#pod(id))
  }

  async #endPod(id: string, state: PodState): Promise<void> {
    const path = this.#pod(id)
    const closing = this.#closing.signal
    // Its node retries in vain, and takes long to say so.
    const isStuck = state.is === 'PENDING' && state.problem !== null
    await this.#api.delete(path, { gracePeriodSeconds: isStuck ? 0 : this.#graceSeconds })
    const late = AbortSignal.timeout((this.#graceSeconds + LATE_SECONDS) * 1_000)
    await untilOver(this.#address(id), AbortSignal.any([late, closing]))
    const pod = await this.#api.find<V1Pod>(path)
    if (pod && stateOf(pod).is === 'PENDING') await this.#api.delete(path, { gracePeriodSeconds: 0 })
    await untilOver(this.#address(id), closing)
  }

  async remove(id: string, workspace: string | null): Promise<void> {
    if (isId(id)) {
      const pod = await this.#stop(id)
      if (pod) await this.#removePod(id, pod)
      await this.#removeInputs(id)
      this.#own.delete(id)
    }
    if (workspace !== null && isId(workspace))
      await this.#api.delete(this.#path('persistentvolumeclaims', claimName(workspace)))
  }

  async #removePod(id: string, pod: V1Pod): Promise<void> {
    const finalizers = pod.metadata?.finalizers?.filter((name) => name !== FINALIZER) ?? []
    await this.#annotate(id, { finalizers })
    await this.#api.delete(this.#pod(id), { gracePeriodSeconds: 0 })
  }

  /** The secret last, since it owns all others. */
  async #removeInputs(id: string): Promise<void> {
    await this.#api.delete(this.#path('configmaps', workloadName(id)))
    await this.#api.delete(this.#path('secrets', workloadName(id)))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#detaching.abort()
    await Promise.race([Promise.allSettled(this.#watching.values()), pause(CLOSE_MS)])
    this.#closing.abort()
  }
}
