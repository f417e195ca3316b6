import { randomUUID } from 'node:crypto'
import { KubernetesApi } from '../../../../src/agents/kubernetes/api.ts'
import { ownKubeconfig } from '../../../../src/agents/kubernetes/kubeconfig.ts'
import type { KubernetesObject } from '../../../../src/agents/kubernetes/objects.ts'
import type { DryRun, DryRunOutcome, InterimReport, Work, WorkItem, WorkOutcome } from '../../../../src/client/index.ts'
import type { ClusterOptions } from '../../../../src/families/deployments/agents/kubernetes/cluster.ts'
import { manifestDryRun, manifestWork } from '../../../../src/families/deployments/agents/kubernetes/program.ts'
import { openSandbox } from '../../../testkit/sandbox.ts'
import { until } from '../../../testkit/wait.ts'

/** A namespace of its own on the cluster of the tests, and the deployer's work on it. */
export interface ManifestPlace extends AsyncDisposable {
  readonly namespace: string
  readonly api: KubernetesApi
  readonly item: string
  path(kind: string, name?: string): string
  find(kind: string, name: string): Promise<KubernetesObject | null>
  /** Begins the work on an item. */
  begin(config: object, more?: Partial<WorkItem>, options?: Partial<ClusterOptions>): Working
  deploy(config: object, more?: Partial<WorkItem>, options?: Partial<ClusterOptions>): Promise<Worked>
  remove(config?: object): Promise<Worked>
  dryRun(config: object, more?: Partial<WorkItem>): Promise<DryRunOutcome | null>
  /** Names of what is in the namespace, but for what a cluster creates in each. */
  leftovers(): Promise<readonly string[]>
}
interface Working {
  readonly worked: Promise<Worked>
  readonly steps: readonly string[]
  readonly lines: readonly string[]
  stop(): void
}
interface Worked {
  readonly outcome: WorkOutcome
  readonly lines: readonly string[]
  readonly error: string
}

const KINDS = [
  '/api/v1/namespaces/NS/pods',
  '/api/v1/namespaces/NS/configmaps',
  '/api/v1/namespaces/NS/secrets',
  '/api/v1/namespaces/NS/services',
  '/apis/apps/v1/namespaces/NS/deployments',
  '/apis/apps/v1/namespaces/NS/replicasets',
  '/apis/batch/v1/namespaces/NS/jobs',
]
const OF_CLUSTER = /default-token-|kube-root-ca/

export async function manifestPlace(
  workOf: (options: ClusterOptions) => Work = manifestWork,
  dryRunOf: (options: ClusterOptions) => DryRun = manifestDryRun,
): Promise<ManifestPlace> {
  const closing = new AbortController()
  const kubeconfig = ownKubeconfig()
  const api = new KubernetesApi(kubeconfig, closing.signal)
  const namespace = `phaseline-test-${randomUUID().slice(-12)}`
  const item = randomUUID()
  await api.post('/api/v1/namespaces', { metadata: { name: namespace } })
  const path = (kind: string, name?: string): string => {
    const base = kind.includes('/') ? `/apis/${kind.slice(0, kind.lastIndexOf('/'))}` : '/api/v1'
    const collection = `${base}/namespaces/${namespace}/${kind.slice(kind.lastIndexOf('/') + 1)}`
    return name === undefined ? collection : `${collection}/${name}`
  }
  // Pods are refused until their service account is there.
  await until(async () => (await api.find(path('serviceaccounts', 'default'))) !== null, { what: 'a service account' })
  const of = {
    ...({ fence: '', objectId: item, kind: 'DEPLOY_ITEM', name: 'it', jobId: null, target: null } as const),
    ...{ type: 'kubernetes-manifest', attempt: 1, token: null },
  }
  const begin: ManifestPlace['begin'] = (config, more = {}, options = {}) => {
    const stop = new AbortController()
    const [steps, lines]: [string[], string[]] = [[], []]
    const work = workOf({ namespace, sandbox: openSandbox(), ...options })
    const context = {
      signal: stop.signal,
      lost: stop.signal,
      report: ({ progress }: InterimReport) => void steps.push(progress?.step ?? ''),
      log: (_stream: string, text: string) => void lines.push(text),
    }
    const given = { ...of, action: 'RECONCILE', config } as const
    const worked = Promise.resolve(work({ ...given, ...more }, context)).then((outcome) => ({
      ...{ outcome, lines },
      error: outcome && 'phase' in outcome ? `${outcome.error?.code}: ${outcome.error?.message}` : '',
    }))
    return { worked, steps, lines, stop: () => stop.abort('ABORT_REQUESTED') }
  }
  return {
    ...{ namespace, api, item, path, begin },
    find: (kind, name) => api.find<KubernetesObject>(path(kind, name)),
    deploy: (config, more, options) => begin(config, more, options).worked,
    remove: (config = { manifests: [] }) => begin(config, { action: 'DELETE' }).worked,
    async dryRun(config, more = {}) {
      const { signal } = closing
      const given = { ...of, action: 'DRY_RUN', dryRunOf: 'RECONCILE', config, ...more } as const
      return await dryRunOf({ namespace, sandbox: openSandbox() })(given, { signal, lost: signal })
    },
    async leftovers() {
      const lists = await Promise.all(
        KINDS.map((kind) => api.get<{ items: readonly KubernetesObject[] }>(kind.replace('NS', namespace))),
      )
      const names = lists.flatMap(({ items }, i) =>
        items.map(({ metadata }) => `${KINDS[i]?.split('/').at(-1)} ${metadata.name}`),
      )
      return names.filter((name) => !OF_CLUSTER.test(name))
    },
    async [Symbol.asyncDispose]() {
      const { items } = await api.get<{ items: readonly KubernetesObject[] }>(path('pods'))
      for (const { metadata } of items) await api.delete(path('pods', metadata.name), { gracePeriodSeconds: 0 })
      await api.delete(`/api/v1/namespaces/${namespace}`)
      closing.abort()
    },
  }
}

export const configMap = (name: string, data: Readonly<Record<string, string>> = { a: '1' }) => ({
  ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data },
})
