import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { KubeConfig, type V1Pod } from '@kubernetes/client-node'
import { KubernetesApi } from '../../src/families/pipelines/agents/kubernetes/api.ts'
import {
  type KubernetesRuntimeOptions,
  openKubernetesRuntime,
} from '../../src/families/pipelines/agents/kubernetes/kubernetes-runtime.ts'
import { readSettings } from '../../src/families/pipelines/agents/kubernetes/settings.ts'
import type { Runtime, Workload, WorkloadEnd } from '../../src/families/pipelines/agents/runtime/runtime.ts'
import { until } from '../testkit/wait.ts'

/** Tests on a cluster run where one is given: KUBECONFIG names it, and it has the image `localhost/busybox:1`. */
export const HAS_CLUSTER = process.env.PHASELINE_TEST_KUBERNETES === 'yes' && process.env.KUBECONFIG !== undefined
if (!HAS_CLUSTER)
  process.stderr.write('Left out: tests on Kubernetes. They need PHASELINE_TEST_KUBERNETES=yes and KUBECONFIG.\n')

export const IMAGE = 'localhost/busybox:1'
/** busybox has root as its user, which `restricted` refuses. */
export const USER = 1_000

/** A namespace of its own, deleted at the end. */
export interface KubernetesPlace extends AsyncDisposable {
  readonly api: KubernetesApi
  readonly namespace: string
  open(options?: Partial<KubernetesRuntimeOptions>): Promise<Runtime>
  /** The path of its objects of one kind, or of one of them. */
  path(kind: string, name?: string): string
  pod(id: string): Promise<V1Pod | null>
  /** A folder of the node as the only volume of a storage class of its own. */
  volume(): Promise<AsyncDisposable & { readonly storageClass: string }>
  /** The credentials of a service account. */
  as(serviceAccount: string): Promise<KubeConfig>
  /** Kinds and names of all that is in it, but for what every namespace has. */
  left(): Promise<readonly string[]>
}

interface Named {
  readonly metadata: { readonly name: string }
}
const KINDS = ['pods', 'secrets', 'configmaps', 'persistentvolumeclaims']

export async function kubernetesPlace(): Promise<KubernetesPlace> {
  const config = new KubeConfig()
  config.loadFromDefault()
  const closing = new AbortController()
  const api = new KubernetesApi(config, closing.signal)
  const namespace = `phaseline-test-${randomUUID().slice(-12)}`
  await api.post('/api/v1/namespaces', { metadata: { name: namespace } })
  const path = (kind: string, name?: string): string =>
    `/api/v1/namespaces/${namespace}/${kind}${name === undefined ? '' : `/${name}`}`
  // Pods are refused until their service account is there.
  await until(async () => (await api.find(path('serviceaccounts', 'default'))) !== null, { what: 'a service account' })
  let current: Runtime | null = null
  const close = async (): Promise<void> => {
    await current?.[Symbol.asyncDispose]()
    current = null
  }
  const open: KubernetesPlace['open'] = async (options = {}) => {
    await close()
    current = openKubernetesRuntime({
      ...{ config, namespace, instance: 'test', replica: 'one', url: 'http://api.test/graphql', graceMs: 1_000 },
      settings: readSettings({ imagePullPolicy: 'Never', runAsUser: USER }),
      onProblem: (error) => console.error(error),
      ...options,
    })
    return current
  }
  const left = async (): Promise<readonly string[]> => {
    const found = await Promise.all(
      KINDS.map(async (kind) => {
        const { items } = await api.get<{ items: readonly Named[] }>(path(kind))
        return items.map(({ metadata }) => `${kind} ${metadata.name}`)
      }),
    )
    return found.flat().filter((name) => !/default-token|kube-root-ca/.test(name))
  }
  return {
    ...{ api, namespace, path, open, left },
    async volume() {
      const folder = `/tmp/${namespace}`
      await api.post('/api/v1/persistentvolumes', {
        metadata: { name: namespace },
        spec: {
          capacity: { storage: '1Gi' },
          accessModes: ['ReadWriteOnce'],
          storageClassName: namespace,
          hostPath: { path: folder, type: 'DirectoryOrCreate' },
        },
      })
      return {
        storageClass: namespace,
        async [Symbol.asyncDispose]() {
          await api.delete(`/api/v1/persistentvolumes/${namespace}`)
          await rm(folder, { recursive: true, force: true })
        },
      }
    },
    async as(serviceAccount) {
      const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${serviceAccount}/token`
      const { status } = await api.post<{ status: { token: string } }>(path, { spec: { expirationSeconds: 3_600 } })
      const cluster = config.getCurrentCluster()
      if (!cluster) throw new Error('there is no cluster')
      const other = new KubeConfig()
      other.loadFromClusterAndUser(cluster, { name: serviceAccount, token: status.token })
      return other
    },
    pod: (id) => api.find<V1Pod>(path('pods', `phaseline-${id}`)),
    async [Symbol.asyncDispose]() {
      const runtime = await open()
      const { items } = await api.get<{ items: readonly V1Pod[] }>(path('pods'))
      await Promise.all(items.map((pod) => runtime.remove(pod.metadata?.labels?.['phaseline.io/object'] ?? '', null)))
      await close()
      await api.delete(`/api/v1/namespaces/${namespace}`)
      closing.abort()
    },
  }
}

/** A workload that is a shell script in busybox. */
export function shellWorkload(script: string, more: Partial<Workload> = {}): Workload {
  const id = more.id ?? randomUUID()
  return {
    ...{ id, eventId: 'event', workerId: id, project: 'shop', image: IMAGE },
    ...{ command: ['sh', '-c'], args: [script], env: {}, files: [], secrets: {} },
    ...{ event: { id: 'event', payload: 'the payload' }, workspace: null, token: null },
    ...more,
  }
}

export interface Listened {
  readonly lines: string[]
  isRunning: boolean
  readonly end: Promise<WorkloadEnd | null>
  detach(): void
}

export function listen(runtime: Runtime, id: string): Listened {
  const lines: string[] = []
  const detached = new AbortController()
  const listened = { lines, isRunning: false, detach: () => detached.abort() }
  const end = runtime.watch(id, {
    onRunning() {
      listened.isRunning = true
    },
    onLine: (stream, text) => lines.push(`${stream} ${text}`),
    signal: detached.signal,
  })
  return Object.assign(listened, { end })
}

export async function runToEnd(runtime: Runtime, workload: Workload) {
  await runtime.start(workload, 'receipt')
  const listened = listen(runtime, workload.id)
  return { end: await listened.end, lines: listened.lines }
}
