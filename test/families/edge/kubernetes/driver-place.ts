import { randomUUID } from 'node:crypto'
import type { KubeConfig } from '@kubernetes/client-node'
import { KubernetesApi } from '../../../../src/agents/kubernetes/api.ts'
import { ownKubeconfig } from '../../../../src/agents/kubernetes/kubeconfig.ts'
import type { KubernetesObject } from '../../../../src/agents/kubernetes/objects.ts'
import type { CrmContext, CrmDriver, CrmRequest } from '../../../../src/client/index.ts'
import { Clusters } from '../../../../src/families/edge/agents/kubernetes/clusters.ts'
import { kubernetesDriver } from '../../../../src/families/edge/agents/kubernetes/kubernetes-driver.ts'
import { namespaceName } from '../../../../src/families/edge/agents/kubernetes/names.ts'
import { CLUSTER_IMAGE } from '../../../testkit/cluster.ts'

/** The cluster of the tests, looked at from outside. */
export interface ClusterView extends AsyncDisposable {
  readonly api: KubernetesApi
  readonly config: KubeConfig
  namespaceOf(cluster: string): string
  /** The path of objects of a cluster instance, e.g. `apps/v1/deployments`, or of one of them. */
  path(cluster: string, collection: string, name?: string): string
  find(cluster: string, collection: string, name: string): Promise<KubernetesObject | null>
  namespace(cluster: string): Promise<KubernetesObject | null>
}

/** Removes the cloudlet's namespaces at the end. */
export function clusterView(cloudlet: { readonly id: string; readonly name: string }): ClusterView {
  const closing = new AbortController()
  const config = ownKubeconfig()
  const api = new KubernetesApi(config, closing.signal)
  const namespaceOf = (cluster: string): string => namespaceName(cloudlet, cluster)
  const path: ClusterView['path'] = (cluster, collection, name) => {
    const base = collection.includes('/') ? `/apis/${collection.slice(0, collection.lastIndexOf('/'))}` : '/api/v1'
    const all = `${base}/namespaces/${namespaceOf(cluster)}/${collection.slice(collection.lastIndexOf('/') + 1)}`
    return name === undefined ? all : `${all}/${name}`
  }
  return {
    ...{ api, config, namespaceOf, path },
    find: (cluster, collection, name) => api.find<KubernetesObject>(path(cluster, collection, name)),
    namespace: (cluster) => api.find<KubernetesObject>(`/api/v1/namespaces/${namespaceOf(cluster)}`),
    async [Symbol.asyncDispose]() {
      const query = { labelSelector: `phaseline.io/cloudlet=${cloudlet.id}` }
      const { items } = await api.get<{ items: readonly KubernetesObject[] }>('/api/v1/namespaces', { query })
      for (const { metadata } of items) await api.delete(`/api/v1/namespaces/${metadata.name}`)
      closing.abort()
    },
  }
}

/** The driver of a cloudlet, without a server. */
export interface DriverPlace extends ClusterView {
  readonly cloudlet: { readonly id: string; readonly name: string }
  readonly driver: CrmDriver
  begin(action: CrmRequest['action'], path: string, spec?: object, revision?: number): Working
  /** Resolves with what went wrong, as `CODE: message`; an empty text: nothing. */
  run(action: CrmRequest['action'], path: string, spec?: object, revision?: number): Promise<string>
  /** As `path PHASE revision`. */
  list(): Promise<readonly string[]>
}
interface Working {
  readonly done: Promise<string>
  readonly steps: readonly string[]
  stop(): void
}

export function driverPlace(
  options: { readonly kubeconfigs?: string; readonly podSecurity?: 'baseline' } = {},
): DriverPlace {
  const cloudlet = { id: randomUUID(), name: 'Test_Site' }
  const view = clusterView(cloudlet)
  const clusters = new Clusters({ kubeconfigs: options.kubeconfigs })
  const { podSecurity = 'restricted' } = options
  const closing = new AbortController()
  const open = { signal: closing.signal, onRetry: (error: Error) => console.error(error.message) }
  const driver = kubernetesDriver({ cloudlet, clusters, podSecurity }, open)
  const begin: DriverPlace['begin'] = (action, path, spec, revision = 1) => {
    const stop = new AbortController()
    const steps: string[] = []
    const context: CrmContext = {
      signal: stop.signal,
      progress: (step) => void steps.push(step),
      log: (_, text) => void steps.push(text),
    }
    const names = path.split('/')
    const request: CrmRequest = {
      ...{ fence: '', objectId: `id-${names.at(-1)}`, operationId: randomUUID(), specRevision: revision, action },
      ...{ kind: names.length === 1 ? 'CLUSTER_INST' : 'APP_INST', path: [cloudlet.name, ...names] },
      spec: action === 'DELETE' ? null : (spec ?? {}),
    }
    const method = action === 'CREATE' ? driver.create : action === 'UPDATE' ? driver.update : driver.delete
    const done = method(request, context).then(
      () => '',
      (error) => (stop.signal.aborted ? 'stopped' : `${error.code}: ${error.message}`),
    )
    return { done, steps, stop: () => stop.abort('SHUTDOWN') }
  }
  return {
    ...view,
    ...{ cloudlet, driver, begin },
    run: (...request) => begin(...request).done,
    async list() {
      const objects = await driver.list()
      return objects
        .map(({ path, phase, specRevision }) => `${path.slice(1).join('/')} ${phase} ${specRevision}`)
        .toSorted()
    },
    async [Symbol.asyncDispose]() {
      closing.abort()
      await view[Symbol.asyncDispose]()
    },
  }
}

/** An app that sleeps, as the user that may. */
export const sleeper = (more: object = {}): object => ({
  ...{ image: CLUSTER_IMAGE, imagePullPolicy: 'Never', command: ['sh', '-c', 'exec sleep 1000'], runAsUser: 1_000 },
  ...{ terminationGracePeriodSeconds: 0, ...more },
})
