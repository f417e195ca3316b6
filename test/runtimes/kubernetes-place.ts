import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { KubeConfig, type V1Pod } from '@kubernetes/client-node'
import { KubernetesApi } from '../../src/agents/kubernetes/api.ts'
import { ownKubeconfig } from '../../src/agents/kubernetes/kubeconfig.ts'
import {
  type KubernetesRuntimeOptions,
  openKubernetesRuntime,
} from '../../src/families/pipelines/agents/kubernetes/kubernetes-runtime.ts'
import { LABELS, workloadName } from '../../src/families/pipelines/agents/kubernetes/names.ts'
import { stateOf } from '../../src/families/pipelines/agents/kubernetes/pod-state.ts'
import { readSettings } from '../../src/families/pipelines/agents/kubernetes/settings.ts'
import type { Runtime } from '../../src/families/pipelines/agents/runtime/runtime.ts'
import { CLUSTER_IMAGE } from '../testkit/cluster.ts'
import { GIT_IMAGE } from '../testkit/git-image.ts'
import { until } from '../testkit/wait.ts'
import { type Place, URL, usualClones } from './place.ts'

export const USER = 1_000
/** This machine as pods of its node reach it: the gateway of their network. */
export const { PHASELINE_TEST_MACHINE: MACHINE = '10.244.0.1' } = process.env

/** A namespace of its own, with one volume for the workspace of one worker. */
export interface KubernetesPlace extends Place {
  open(options?: Partial<KubernetesRuntimeOptions>): Promise<Runtime>
  readonly api: KubernetesApi
  readonly namespace: string
  /** The path of its objects of one kind, or of one of them. */
  path(kind: string, name?: string): string
  pod(id: string): Promise<V1Pod | null>
  /** The credentials of a service account. */
  as(serviceAccount: string): Promise<KubeConfig>
}

interface Named {
  readonly metadata: { readonly name: string }
}
const KINDS = ['pods', 'secrets', 'configmaps', 'persistentvolumeclaims']
/** Objects that a cluster itself creates in every namespace, or for a service account. */
const OF_CLUSTER = /-token-|kube-root-ca/

/** The volume is the folder of a node, which belongs to root. */
const optionsOf = (namespace: string): KubernetesRuntimeOptions => ({
  ...{ config: ownKubeconfig(), namespace, instance: namespace, replica: 'one', url: URL, graceMs: 1_000 },
  settings: readSettings({
    imagePullPolicy: 'Never',
    security: 'root-allowed',
    workspace: { storageClassName: namespace },
  }),
  ...{ clone: usualClones(), cloneImage: GIT_IMAGE, artifactImage: null },
  onProblem: (error) => console.error(error.message),
})
export const reopen = async (namespace: string): Promise<Runtime> => openKubernetesRuntime(optionsOf(namespace))

export async function kubernetesPlace(): Promise<KubernetesPlace> {
  const closing = new AbortController()
  const api = new KubernetesApi(ownKubeconfig(), closing.signal)
  const namespace = `phaseline-test-${randomUUID().slice(-12)}`
  const path = (kind: string, name?: string): string =>
    `/api/v1/namespaces/${namespace}/${kind}${name === undefined ? '' : `/${name}`}`
  const podPath = (id: string): string => path('pods', workloadName(id))
  const volume = await createNamespace(api, namespace)
  // Pods are refused until their service account is there.
  await until(async () => (await api.find(path('serviceaccounts', 'default'))) !== null, { what: 'a service account' })
  let current: Runtime | null = null
  const close = async (): Promise<void> => {
    await current?.[Symbol.asyncDispose]()
    current = null
  }
  const open: KubernetesPlace['open'] = async (options = {}) => {
    await close()
    current = openKubernetesRuntime({ ...optionsOf(namespace), ...options })
    return current
  }
  const list = async <T>(kind: string): Promise<readonly T[]> =>
    (await api.get<{ items: readonly T[] }>(path(kind))).items
  return {
    ...{ api, namespace, path, open, close },
    program: ['kubernetes-place.ts', namespace],
    base: { image: CLUSTER_IMAGE },
    gitAddress: MACHINE,
    pod: (id) => api.find<V1Pod>(podPath(id)),
    endFromOutside: (id) => api.delete(podPath(id), { gracePeriodSeconds: 1 }),
    async isRunning(id) {
      const pod = await api.find<V1Pod>(podPath(id))
      return pod !== null && stateOf(pod).is !== 'OVER'
    },
    async services(id) {
      const labelSelector = `${LABELS.object}=${id},${LABELS.service}`
      const found = await api.get<{ items: readonly Named[] }>(path('pods'), { query: { labelSelector } })
      return found.items.map(({ metadata }) => metadata.name)
    },
    describe: async (id) =>
      JSON.stringify([await api.get(podPath(id)), await list('events'), await list('configmaps')]),
    async leftovers() {
      const found = await Promise.all(
        KINDS.map(async (kind) => (await list<Named>(kind)).map(({ metadata }) => `${kind} ${metadata.name}`)),
      )
      return found.flat().filter((name) => !OF_CLUSTER.test(name))
    },
    async as(serviceAccount) {
      const body = { spec: { expirationSeconds: 3_600 } }
      const tokens = `${path('serviceaccounts', serviceAccount)}/token`
      const { status } = await api.post<{ status: { token: string } }>(tokens, body)
      const cluster = ownKubeconfig().getCurrentCluster()
      if (!cluster) throw new Error('there is no cluster')
      const config = new KubeConfig()
      config.loadFromClusterAndUser(cluster, { name: serviceAccount, token: status.token })
      return config
    },
    async [Symbol.asyncDispose]() {
      await close()
      // A node may take a minute to end a pod that has just begun.
      for (const { metadata } of await list<V1Pod>('pods')) {
        await api.patch(path('pods', metadata?.name), { metadata: { finalizers: null } })
        await api.delete(path('pods', metadata?.name), { gracePeriodSeconds: 0 })
      }
      await api.delete(`/api/v1/namespaces/${namespace}`)
      await volume[Symbol.asyncDispose]()
      closing.abort()
    },
  }
}

/** With a folder of the node as the only volume of a storage class of its own. */
async function createNamespace(api: KubernetesApi, name: string): Promise<AsyncDisposable> {
  const folder = `/tmp/${name}`
  await api.post('/api/v1/namespaces', { metadata: { name } })
  await api.post('/api/v1/persistentvolumes', {
    metadata: { name },
    spec: {
      capacity: { storage: '1Gi' },
      accessModes: ['ReadWriteOnce'],
      storageClassName: name,
      hostPath: { path: folder, type: 'DirectoryOrCreate' },
    },
  })
  return {
    async [Symbol.asyncDispose]() {
      await api.delete(`/api/v1/persistentvolumes/${name}`)
      await rm(folder, { recursive: true, force: true })
    },
  }
}
