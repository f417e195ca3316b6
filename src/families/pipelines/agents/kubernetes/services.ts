import type { V1EnvVar, V1HostAlias, V1Pod, V1Probe, V1Secret } from '@kubernetes/client-node'
import { isStatus, type KubernetesApi, unless } from '../../../../agents/kubernetes/api.ts'
import { hardenedContainer, literally } from '../../../../agents/kubernetes/hardened-pod.ts'
import { type PendingProblem, ProblemTimeout } from '../../../../agents/kubernetes/pending-problem.ts'
import type { Mask } from '../../../../agents/mask.ts'
import { pause, retryDelay } from '../../../../client/pause.ts'
import type { Service, Watcher, Workload, WorkloadEnd } from '../runtime/runtime.ts'
import {
  cannotStart,
  howItEnded,
  notReady,
  secretsOf,
  serviceEnv,
  serviceProblem,
  TAIL_LINES,
  tellEnded,
} from '../runtime/services.ts'
import { metaOf, secretKey } from './inputs-of.ts'
import { LABELS, workloadName } from './names.ts'
import type { PodFeed } from './pod-feed.ts'
import { podBaseOf } from './pod-of.ts'
import { stateOf } from './pod-state.ts'
import type { PodSettings } from './settings.ts'
import { PodChanges, problemLimits } from './watch-pod.ts'

const CONTAINER = 'service'
const SECRETS = '/run/phaseline/secrets'
/** Nothing of a service is kept, so it need not end in peace. */
const GRACE_SECONDS = 1
const PROBE_SECONDS = 10
const CREATE_RETRIES = 8

export interface PodServicesParts {
  readonly api: KubernetesApi
  readonly feed: PodFeed
  readonly place: string
  readonly settings: PodSettings
  /** The path of a pod. */
  path(name?: string): string
}

/**
 * The services of workloads: each is a pod, which the secret of the workload owns, so that the cluster removes it at the latest with that. The
 * pod of the workload has their addresses, and thereby says which they are.
 */
export class PodServices {
  readonly #parts: PodServicesParts
  constructor(parts: PodServicesParts) {
    this.#parts = parts
  }

  /** Names of the pods of the services of a workload. */
  static of(pod: V1Pod): readonly ServiceName[] {
    const id = pod.metadata?.labels?.[LABELS.object] ?? ''
    return (pod.spec?.hostAliases ?? []).flatMap(({ hostnames: [name] = [] }) =>
      name === undefined ? [] : { name, pod: podName(id, name) },
    )
  }

  /** Starts the services of a workload, each when those before it are ready. @throws StartProblem */
  async start(workload: Workload, owner: V1Secret, mask: Mask, signal: AbortSignal): Promise<readonly V1HostAlias[]> {
    const hosts: V1HostAlias[] = []
    for (const service of workload.services ?? []) {
      secretsOf(workload, service)
      await this.#create(this.#podOf(workload, service, { owner, hosts }), signal)
      hosts.push({ ip: await this.#untilReady(workload, service, mask, signal), hostnames: [service.name] })
    }
    return hosts
  }

  /** One that an interrupted start has left is as good as a new one, unless it has ended. */
  async #create(pod: V1Pod, signal: AbortSignal): Promise<void> {
    const { api, path } = this.#parts
    for (let failures = 0; ; failures += 1) {
      signal.throwIfAborted()
      try {
        await api.post(path(), pod, signal)
        return
      } catch (error) {
        if (!isStatus(error, 409)) throw error
      }
      const name = pod.metadata?.name ?? ''
      const found = await api.find<V1Pod>(path(name))
      if (found && isUsable(found, pod)) return
      if (failures === CREATE_RETRIES) throw new Error(`The cluster keeps the name of the pod ${name}.`)
      if (found) await this.#removeOne(found, 0)
      await pause(retryDelay(failures), signal)
    }
  }

  #podOf(
    workload: Workload,
    service: Service,
    { owner, hosts }: { readonly owner: V1Secret; readonly hosts: readonly V1HostAlias[] },
  ): V1Pod {
    const { place, settings } = this.#parts
    const { name, image, command, args, secrets } = service
    if (image === null) throw serviceProblem(name, 'has no image: the kubernetes runtime runs images')
    const meta = metaOf(workload, place, owner)
    const { imagePullPolicy, resources, readOnlyRootFilesystem, runAsUser = service.user } = settings
    const items = secrets.map((secret) => ({ key: secretKey(secret), path: secret }))
    return {
      metadata: { ...meta, name: podName(workload.id, name), labels: { ...meta.labels, [LABELS.service]: name } },
      spec: {
        ...podBaseOf(settings, GRACE_SECONDS),
        hostAliases: [...hosts],
        containers: [
          {
            name: CONTAINER,
            image,
            ...(imagePullPolicy === undefined ? {} : { imagePullPolicy }),
            ...(command.length > 0 ? { command: command.map(literally) } : {}),
            ...(args.length > 0 ? { args: args.map(literally) } : {}),
            env: envOf(workload, service),
            resources: { requests: resources.requests ?? {}, limits: resources.limits ?? {} },
            securityContext: {
              ...hardenedContainer(readOnlyRootFilesystem),
              ...(runAsUser === null ? {} : { runAsUser, runAsGroup: runAsUser }),
            },
            ...probeOf(service),
            volumeMounts: [
              { name: 'secrets', mountPath: SECRETS, readOnly: true },
              ...(readOnlyRootFilesystem ? [{ name: 'tmp', mountPath: '/tmp' }] : []),
            ],
          },
        ],
        volumes: [
          items.length > 0
            ? { name: 'secrets', secret: { secretName: workloadName(workload.id), defaultMode: 0o444, items } }
            : { name: 'secrets', emptyDir: {} },
          ...(readOnlyRootFilesystem ? [{ name: 'tmp', emptyDir: {} }] : []),
        ],
      },
    }
  }

  /** Returns its address. */
  async #untilReady(workload: Workload, service: Service, mask: Mask, signal: AbortSignal): Promise<string> {
    const { api, feed, path, settings } = this.#parts
    const { name, readiness } = service
    const pod = podName(workload.id, name)
    const fail = async (why: string) => serviceProblem(name, why, await this.#tail(pod, mask))
    using changes = new PodChanges({ api, feed, name: pod, path: path(pod) })
    const timeout = new ProblemTimeout<PendingProblem['kind']>(problemLimits(settings))
    let until = Number.POSITIVE_INFINITY
    for (;;) {
      const found = await changes.next(Math.max(0, Math.min(timeout.remainingMs, until - performance.now())), signal)
      signal.throwIfAborted()
      if (found === undefined) continue
      const state = found ? stateOf(found) : null
      if (state?.is === 'OVER' && state.end.how === 'NOT_STARTED') throw cannotStart(name, state.end.message)
      if (!found || !state || state.is === 'OVER') throw await fail(endOf(state?.is === 'OVER' ? state.end : null))
      if (isReady(found)) return found.status?.podIP ?? ''
      const problem = timeout.expired(state.is === 'PENDING' ? state.problem : null)
      if (problem) throw cannotStart(name, problem.message)
      if (state.is === 'RUNNING') until = Math.min(until, performance.now() + readiness.timeoutMs)
      if (performance.now() >= until) throw await fail(notReady(service))
    }
  }

  /** Tells of services that end while their workload runs, until the signal aborts. */
  async watch(names: readonly ServiceName[], mask: Mask, watcher: Pick<Watcher, 'onLine' | 'signal'>): Promise<void> {
    await Promise.all(names.map((name) => this.#watchOne(name, mask, watcher).catch(() => {})))
  }

  async #watchOne(
    { name, pod }: ServiceName,
    mask: Mask,
    { onLine, signal }: Pick<Watcher, 'onLine' | 'signal'>,
  ): Promise<void> {
    const { api, feed, path } = this.#parts
    using changes = new PodChanges({ api, feed, name: pod, path: path(pod) })
    while (!signal.aborted) {
      const found = await changes.next(Number.POSITIVE_INFINITY, signal)
      if (found === undefined) continue
      const state = found ? stateOf(found) : null
      if (state && state.is !== 'OVER') continue
      const output = await this.#tail(pod, mask)
      if (!signal.aborted) tellEnded({ onLine }, name, endOf(state?.end ?? null), output)
      return
    }
  }

  /** Its last lines, without secrets. */
  async #tail(pod: string, mask: Mask): Promise<readonly string[]> {
    const { api, path } = this.#parts
    const query = { container: CONTAINER, tailLines: String(TAIL_LINES), limitBytes: String(MAX_TAIL) }
    const chunks: Uint8Array[] = []
    try {
      for await (const chunk of await api.stream(`${path(pod)}/log`, query, AbortSignal.timeout(PROBE_SECONDS * 1_000)))
        chunks.push(chunk)
    } catch {
      // Its node has none, or not any more.
    }
    const lines = Buffer.concat(chunks).toString().split('\n')
    return lines.filter((line) => line !== '').map((line) => mask.apply(line, true))
  }

  async remove(names: readonly Pick<ServiceName, 'pod'>[]): Promise<void> {
    const { api, path } = this.#parts
    await Promise.all(names.map(({ pod }) => api.delete(path(pod), { gracePeriodSeconds: GRACE_SECONDS })))
  }

  /** Removes those that go with this secret: others may have their names by now. */
  async removeOwned(names: readonly Pick<ServiceName, 'pod'>[], uid: string): Promise<void> {
    const { api, path } = this.#parts
    const remove = async ({ pod }: Pick<ServiceName, 'pod'>): Promise<void> => {
      const found = await api.find<V1Pod>(path(pod))
      if (found && isOwnedBy(found, uid)) await this.#removeOne(found, GRACE_SECONDS)
    }
    await Promise.all(names.map(remove))
  }

  /** Removes this very pod, and none that has its name. */
  async #removeOne({ metadata }: V1Pod, gracePeriodSeconds: number): Promise<void> {
    const { api, path } = this.#parts
    await unless([409], api.delete(path(metadata?.name), { gracePeriodSeconds, preconditions: { uid: metadata?.uid } }))
  }
}

const MAX_TAIL = 16_384

export interface ServiceName {
  readonly name: string
  readonly pod: string
}
const podName = (id: string, service: string): string => `${workloadName(id)}-${service}`
export const podsOf = ({ id, services = [] }: Workload): readonly ServiceName[] =>
  services.map(({ name }) => ({ name, pod: podName(id, name) }))

/** Secrets come from the secret of the workload, so that a pod's description names them and does not show them. */
function envOf(workload: Workload, service: Service): V1EnvVar[] {
  const env = serviceEnv(workload, service, { secretsFolder: SECRETS })
  return Object.entries(env).map(([name, value]) =>
    service.secrets.includes(name)
      ? { name, valueFrom: { secretKeyRef: { name: workloadName(workload.id), key: secretKey(name) } } }
      : { name, value: literally(value) },
  )
}

/** It is asked until it has succeeded once. A service that is late is ended by its runtime, which says why. */
function probeOf({ readiness: { port, command, timeoutMs } }: Service): { startupProbe?: V1Probe } {
  if (port === null && command.length === 0) return {}
  const failureThreshold = Math.ceil(timeoutMs / 1_000) + 60
  const often = { periodSeconds: 1, failureThreshold, timeoutSeconds: PROBE_SECONDS }
  return {
    startupProbe: { ...often, ...(port === null ? { exec: { command: [...command] } } : { tcpSocket: { port } }) },
  }
}

const ownerOf = ({ metadata }: V1Pod) => metadata?.ownerReferences?.[0]?.uid
export const isOwnedBy = (pod: V1Pod, uid: string): boolean => ownerOf(pod) === uid

/** It runs, and does not go with the secret of an earlier attempt. */
const isUsable = (found: V1Pod, wanted: V1Pod): boolean =>
  !found.metadata?.deletionTimestamp && stateOf(found).is !== 'OVER' && ownerOf(found) === ownerOf(wanted)

/** Its startup probe has succeeded. That it is ready follows from it, which some nodes tell a minute later. */
const isReady = ({ status }: V1Pod): boolean =>
  status?.podIP !== undefined && (status.containerStatuses?.[0]?.started ?? false)

function endOf(end: WorkloadEnd | null): string {
  if (end?.how !== 'EXITED')
    return end && 'message' in end ? `is gone: ${end.message.replace(/\.$/, '')}` : 'was deleted from outside'
  return howItEnded(end)
}
