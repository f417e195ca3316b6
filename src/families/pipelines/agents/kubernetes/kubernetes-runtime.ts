import { randomUUID } from 'node:crypto'
import type {
  KubeConfig,
  V1ConfigMap,
  V1HostAlias,
  V1PersistentVolumeClaim,
  V1Pod,
  V1Secret,
} from '@kubernetes/client-node'
import type { CloneOptions } from '../../../../agents/git/clone-options.ts'
import { ApiError, isStatus, isTransient, KubernetesApi, unless } from '../../../../agents/kubernetes/api.ts'
import { resourcePath } from '../../../../agents/kubernetes/paths.ts'
import { Mask } from '../../../../agents/mask.ts'
import { pause, retryDelay } from '../../../../client/pause.ts'
import { ActiveWatches } from '../runtime/active-watches.ts'
import { Output } from '../runtime/output.ts'
import {
  GRACE_MS,
  type KnownWorkload,
  type Left,
  type Runtime,
  type RuntimeOptions,
  StartProblem,
  type Watcher,
  type Workload,
  type WorkloadEnd,
} from '../runtime/runtime.ts'
import { claimOf, filesOf, maskedBy, secretOf, textsOf } from './inputs-of.ts'
import { ANNOTATIONS, claimName, FINALIZER, isId, LABELS, workloadName } from './names.ts'
import { PodArtifacts } from './pod-artifacts.ts'
import { PodFeed } from './pod-feed.ts'
import { podOf } from './pod-of.ts'
import { leaves, type PodState, stateOf } from './pod-state.ts'
import { PositionNotes } from './position-notes.ts'
import { isOwnedBy, PodServices, podsOf, type ServiceName } from './services.ts'
import type { PodSettings } from './settings.ts'
import { type PodAddress, untilOver, watchPod } from './watch-pod.ts'

export interface KubernetesRuntimeOptions extends RuntimeOptions {
  readonly config: KubeConfig
  /** Names the place, shared by all replicas of the runtime. */
  readonly instance: string
  /** Names this replica, the same after a restart. */
  readonly replica: string
  readonly namespace: string
  /** The API's URL as pods reach it. */
  readonly url: string
  readonly settings: PodSettings
  readonly clone: CloneOptions
  /** The image that clones; null: the workload's own. */
  readonly cloneImage: string | null
  /** The image that hands artifacts over; null: the workload's own. */
  readonly artifactImage: string | null
  /** The cluster cannot be watched. */
  onProblem(error: Error): void
}

/** A node may need so much longer than the grace to say that a pod has ended. */
const LATE_SECONDS = 5
/** How long the last notes may take. */
const CLOSE_MS = 3_000

const CREATE_RETRIES = 8
/** Nothing more is to be done with the pod of this replica. */
const OVER = { labels: { [LABELS.replica]: null } }

const isStarted = ({ metadata }: V1Pod): boolean => metadata?.annotations?.[ANNOTATIONS.receipt] !== undefined

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
  readonly #services: PodServices
  readonly #artifacts: PodArtifacts
  readonly #graceSeconds: number
  /** Secrets of the workloads that this very process has started or adopted. */
  readonly #own = new Map<string, Mask>()
  readonly #watches = new ActiveWatches()

  constructor(options: KubernetesRuntimeOptions) {
    const { config, instance, graceMs = GRACE_MS, onProblem } = options
    this.instance = instance
    this.#options = options
    this.#graceSeconds = Math.max(1, Math.ceil(graceMs / 1_000))
    this.#api = new KubernetesApi(config, this.#closing.signal)
    const labelSelector = `${LABELS.place}=${instance}`
    const { signal } = this.#detaching
    this.#feed = new PodFeed({ api: this.#api, path: this.#path('pods'), labelSelector, signal, onProblem })
    this.#services = new PodServices({
      ...{ api: this.#api, feed: this.#feed, place: instance, settings: options.settings },
      path: (name) => this.#path('pods', name),
    })
    this.#artifacts = new PodArtifacts({ config, settings: options.settings, closing: this.#closing.signal })
  }

  #path(kind: string, name?: string): string {
    return resourcePath('v1', kind, { namespace: this.#options.namespace, name })
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

  async start(workload: Workload, receipt: string, signal = this.#closing.signal): Promise<void> {
    const { id, workspace, workerId } = workload
    if (![id, workspace ?? id, workerId].every(isId)) throw new StartProblem('Its id cannot be the name of a pod.')
    const owner = secretOf(workload, this.#options.instance, randomUUID())
    let secret: V1Secret | null = null
    try {
      secret = await this.#create('secrets', owner, signal)
      await this.#provide(workload, secret, signal)
      signal.throwIfAborted()
      const mask = new Mask(maskedBy(secret))
      const hosts = await this.#services.start(workload, secret, mask, signal)
      const pod = await this.#createPod(workload, receipt, { secret, hosts })
      if (workload.takes?.length) await this.#give(pod, { takes: workload.takes, receipt, signal, mask })
      this.#own.set(id, mask)
    } catch (error) {
      const found = await this.#api.find<V1Pod>(this.#pod(id))
      // Another replica may have started it.
      if (found && isStarted(found)) throw error
      if (secret) await this.#undo(workload, secret, found)
      // A busy API server says nothing about the workload: its START comes again.
      if (error instanceof ApiError && !isTransient(error))
        throw new StartProblem(`It could not be started: ${error.message}`)
      throw error
    }
  }

  /** Creates the objects that the pod needs, or reuses those of an interrupted start. */
  async #provide(workload: Workload, secret: V1Secret, signal: AbortSignal): Promise<void> {
    const { instance, settings } = this.#options
    if (textsOf(workload).length > 0) await this.#create('configmaps', filesOf(workload, instance, secret), signal)
    if (workload.workspace === null) return
    const claim = claimOf(workload, instance, settings, secret)
    const path = this.#path('persistentvolumeclaims', claim.metadata?.name)
    for (let failures = 0; ; failures += 1) {
      if (await unless([409], this.#api.post(this.#path('persistentvolumeclaims'), claim, signal))) return
      // A job shares the claim of its worker. A worker's next attempt needs a new one, and the old one goes after its last pod.
      if (workload.workspace !== workload.id) return
      const found = await this.#api.find<V1PersistentVolumeClaim>(path)
      if (found && !found.metadata?.deletionTimestamp) return
      if (failures === CREATE_RETRIES) throw new Error(`The cluster keeps the claim ${claim.metadata?.name}.`)
      await pause(retryDelay(failures), signal)
    }
  }

  /** A later start of the same workload, by whichever replica, has marked the secret as its own: all that is there then belongs to it. */
  async #undo(workload: Workload, { metadata }: V1Secret, pod: V1Pod | null): Promise<void> {
    const { uid, resourceVersion } = metadata ?? {}
    const path = this.#path('secrets', workloadName(workload.id))
    const isOurs = await unless(
      [409],
      this.#api.delete(path, { preconditions: { uid, resourceVersion } }).then(() => true),
    )
    if (!isOurs || !uid) return
    // The cluster removes whatever else it owned, and would do so with these, only later.
    await this.#services.removeOwned(podsOf(workload), uid)
    if (pod && isOwnedBy(pod, uid)) await this.#removeUnstarted(pod)
  }

  /** Only the pod of this very uid, as long as it is not started: the name may be another one's by now, and another replica may start it. */
  async #removeUnstarted({ metadata: { name, uid } = {} }: V1Pod): Promise<void> {
    const path = this.#path('pods', name)
    for (;;) {
      const found = await this.#api.find<V1Pod>(path)
      if (!found || found.metadata?.uid !== uid || isStarted(found)) return
      const preconditions = { uid, resourceVersion: found.metadata?.resourceVersion }
      const deletion = this.#api.delete(path, { gracePeriodSeconds: 0, preconditions })
      // Its node may have changed its status meanwhile.
      if ((await unless([409], deletion)) !== null) return
    }
  }

  async #give(
    { metadata }: V1Pod,
    { mask, ...giving }: Parameters<PodArtifacts['give']>[1] & { readonly mask: Mask },
  ): Promise<void> {
    const address = { ...this.#address(metadata?.labels?.[LABELS.object] ?? ''), uid: metadata?.uid ?? '' }
    try {
      await this.#artifacts.give(address, giving)
    } catch (error) {
      // The reason may be what Git has said of credentials.
      throw error instanceof StartProblem ? new StartProblem(mask.apply(error.message, false), error.code) : error
    }
  }

  async #create<T extends V1Secret | V1ConfigMap>(kind: string, object: T, signal?: AbortSignal): Promise<T> {
    try {
      return await this.#api.post<T>(this.#path(kind), object, signal)
    } catch (error) {
      const { name = '' } = object.metadata ?? {}
      if (isStatus(error, 409)) return await this.#api.patch<T>(this.#path(kind, name), object)
      // Its message may quote what is refused.
      if (isStatus(error, 403) || !(error instanceof ApiError)) throw error
      throw new ApiError(error.status, error.reason, `The cluster refuses its ${kind}: ${error.reason}.`)
    }
  }

  async #createPod(
    workload: Workload,
    receipt: string,
    { secret, hosts }: { readonly secret: V1Secret; readonly hosts: readonly V1HostAlias[] },
  ): Promise<V1Pod> {
    const { instance: place, replica, url, settings, clone, cloneImage, artifactImage } = this.#options
    const graceSeconds = this.#graceSeconds
    const images = { cloneImage, artifactImage }
    const pod = podOf(
      { ...{ workload, place, replica, receipt, url, graceSeconds, settings, clone, hosts }, ...images },
      secret,
    )
    for (let failures = 0; ; failures += 1) {
      const created = await unless([409], this.#api.post<V1Pod>(this.#path('pods'), pod))
      if (created) return created
      const found = await this.#api.find<V1Pod>(this.#pod(workload.id))
      // The answer to an earlier attempt of this very request may be lost.
      if (found?.metadata?.annotations?.[ANNOTATIONS.receipt] === receipt) return found
      if (found && isStarted(found)) throw new Error(`The workload ${workload.id} exists already.`)
      if (failures === CREATE_RETRIES) throw new Error(`The cluster keeps the name of the pod of ${workload.id}.`)
      // A process that was killed has left it, or one that has lost its lease: nobody will start it.
      if (found) await this.#removeUnstarted(found)
      await pause(retryDelay(failures))
    }
  }

  async updateReceipt(id: string, receipt: string): Promise<boolean> {
    if (!isId(id)) return false
    const found = await this.#api.find<V1Pod>(this.#pod(id))
    if (!found || !isStarted(found)) return false
    const labels = { [LABELS.replica]: this.#options.replica }
    const annotations = { [ANNOTATIONS.receipt]: receipt }
    return await this.#annotate(id, { labels, annotations })
  }

  /** False: there is no such pod. */
  async #annotate(id: string, metadata: Readonly<Record<string, unknown>>): Promise<boolean> {
    return (await unless([404], this.#api.patch(this.#pod(id), { metadata }))) !== null
  }

  watch(id: string, watcher: Watcher): Promise<WorkloadEnd | null> {
    return this.#watches.begin(id, () => this.#watch(id, watcher))
  }

  async #watch(id: string, watcher: Watcher): Promise<WorkloadEnd | null> {
    const isOwn = this.#own.has(id)
    const { onLine } = watcher
    const { output: limits, settings } = this.#options
    const mask = await this.#mask(id)
    const output = new Output({ limits, mask, onLine })
    const notes = new PositionNotes((metadata) => this.#annotate(id, metadata))
    const ended = new AbortController()
    let services: readonly ServiceName[] = []
    let isKept = false
    const signal = AbortSignal.any([watcher.signal, this.#detaching.signal, ended.signal])
    const release = this.#artifacts.releasing(this.#pod(id), signal)
    let watching: Promise<void> | null = null
    let end: WorkloadEnd | null = null
    try {
      end = await watchPod(
        {
          ...{ ...this.#address(id), settings, output },
          onPosition: (position) => notes.set(position),
          onPod: (pod) => {
            services = PodServices.of(pod)
            isKept = leaves(pod)
            release(pod)
          },
          onAlive: () => {
            watching = this.#services.watch(services, mask, { onLine, signal })
            if (!isOwn) onLine('SYSTEM', 'Its runtime is back and has adopted it.')
          },
        },
        {
          onRunning: (commit) => watcher.onRunning(commit),
          onLine,
          signal: AbortSignal.any([watcher.signal, this.#detaching.signal]),
        },
      )
      // The reason may be what Git has said of credentials.
      return end?.how === 'NOT_STARTED' ? { ...end, message: mask.apply(end.message, false) } : end
    } finally {
      ended.abort()
      await watching
      // The removal of the workload tries again.
      if (end) await this.#services.remove(services).catch(() => {})
      output.end()
      // Until it is read, the next process of this replica takes it up.
      const isOver = end !== null && !(isKept && end.how === 'EXITED')
      await notes.close(isOver ? OVER : {})
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

  readLeft(id: string, path: string, signal?: AbortSignal): Promise<Left | null> {
    return this.#artifacts.read(this.#address(id), path, signal)
  }

  async closeLeft(id: string): Promise<void> {
    await Promise.all([this.#artifacts.close(this.#pod(id)), this.#annotate(id, OVER)])
  }

  async remove(id: string, workspace: string | null): Promise<void> {
    if (isId(id)) {
      const pod = await this.#stop(id)
      if (pod) {
        await this.#services.remove(PodServices.of(pod))
        await this.#removePod(id, pod)
      }
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
    await Promise.race([this.#watches.allEnded(), pause(CLOSE_MS)])
    this.#closing.abort()
  }
}
