import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import type { V1Pod } from '@kubernetes/client-node'
import { ApiError, isStatus, type KubernetesApi } from '../../../../agents/kubernetes/api.ts'
import { asError } from '../../../../client/as-error.ts'
import { pause, retryDelay } from '../../../../client/pause.ts'

export interface PodFeedOptions {
  readonly api: KubernetesApi
  /** The path of the pods' collection. */
  readonly path: string
  readonly labelSelector: string
  readonly signal: AbortSignal
  /** The pods cannot be watched. Nothing is concluded from it; the feed resumes when they can. */
  onProblem(error: Error): void
}

/** Null: the pod is gone. */
type Listener = (pod: V1Pod | null) => void
type PodEvent =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK'; readonly object: V1Pod }
  | { readonly type: 'ERROR'; readonly object: { readonly code?: number; readonly message?: string } }

interface Selection {
  readonly labelSelector: string
  readonly fieldSelector?: string
}

/** Ended pods are not watched, however many there are. One that ends leaves the selection, and is read once more. */
const UNFINISHED = 'status.phase!=Succeeded,status.phase!=Failed'
/** The API server ends a watch after so long, and a bookmark comes every minute. */
const WATCH_SECONDS = '240'
const GONE = 410

/** One watch over all pods of a place: notifies followers of their pods' changes, and checks all pods after a gap. */
export class PodFeed {
  readonly #options: PodFeedOptions
  readonly #listeners = new Map<string, Set<Listener>>()

  constructor(options: PodFeedOptions) {
    this.#options = options
    void this.#run()
  }

  async list(selection: Selection): Promise<{ pods: readonly V1Pod[]; version: string }> {
    const { api, path, signal } = this.#options
    const pods: V1Pod[] = []
    let version = ''
    for await (const { metadata, items } of api.pages<V1Pod>(path, { query: { ...selection }, signal })) {
      pods.push(...items)
      version = metadata.resourceVersion
    }
    return { pods, version }
  }

  /** Changes may come twice, and an older one after a newer one. */
  follow(name: string, listener: Listener): Disposable {
    const listeners = this.#listeners.get(name) ?? new Set()
    this.#listeners.set(name, listeners.add(listener))
    return {
      [Symbol.dispose]: () => {
        listeners.delete(listener)
        if (listeners.size === 0) this.#listeners.delete(name)
      },
    }
  }

  async #run(): Promise<void> {
    const { signal, onProblem } = this.#options
    let version: string | null = null
    for (let failures = 0; !signal.aborted; ) {
      try {
        version ??= await this.#refreshAll()
        for await (const event of this.#watch(version)) {
          failures = 0
          if (event.type === 'ERROR') throw new ApiError(event.object.code ?? 0, 'Expired', event.object.message ?? '')
          version = event.object.metadata?.resourceVersion ?? version
          const name = event.object.metadata?.name ?? ''
          if (event.type === 'DELETED') await this.#refresh(name)
          else if (event.type !== 'BOOKMARK') this.#notify(name, event.object)
        }
      } catch (error) {
        if (signal.aborted) return
        // The API server has forgotten the changes since then.
        if (isStatus(error, GONE)) version = null
        else onProblem(asError(error))
      }
      await pause(retryDelay(failures++), signal)
    }
  }

  /** Returns the version from which on changes are watched. */
  async #refreshAll(): Promise<string> {
    const { labelSelector } = this.#options
    const { pods, version } = await this.list({ labelSelector, fieldSelector: UNFINISHED })
    const found = new Map(pods.map((pod) => [pod.metadata?.name, pod]))
    for (const name of [...this.#listeners.keys()]) {
      const pod = found.get(name)
      if (pod) this.#notify(name, pod)
      else await this.#refresh(name)
    }
    return version
  }

  async *#watch(version: string): AsyncIterable<PodEvent> {
    const { api, path, labelSelector, signal } = this.#options
    const body = await api.stream(
      path,
      {
        ...{ watch: 'true', allowWatchBookmarks: 'true', timeoutSeconds: WATCH_SECONDS },
        ...{ labelSelector, fieldSelector: UNFINISHED, resourceVersion: version },
      },
      signal,
    )
    for await (const line of createInterface({ input: Readable.from(body) })) yield JSON.parse(line) as PodEvent
  }

  #notify(name: string, pod: V1Pod | null): void {
    for (const listener of this.#listeners.get(name) ?? []) listener(pod)
  }

  async #refresh(name: string): Promise<void> {
    const { api, path } = this.#options
    if (this.#listeners.has(name)) this.#notify(name, await api.find<V1Pod>(`${path}/${name}`))
  }
}
