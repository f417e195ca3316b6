import { type KubernetesApi, troubleOf } from '../../../../agents/kubernetes/api.ts'
import type { KubernetesObject, PlacedRef } from '../../../../agents/kubernetes/objects.ts'
import { type CrmContext, CrmProblem, type CrmRequest } from '../../../../client/index.ts'
import type { Clusters } from './clusters.ts'
import { clusterOf, type InstanceRecord, isOurs, type Path } from './instance-record.ts'
import { appName, namespaceName } from './names.ts'
import { type Plan, refTo } from './plan.ts'
import { planApp } from './plan-app.ts'
import { type PodSecurity, planCluster } from './plan-cluster.ts'
import { readClusterSpec } from './read-spec.ts'

/** A cloudlet with the clusters that it has. */
export interface Site {
  readonly cloudlet: { readonly id: string; readonly name: string }
  readonly clusters: Clusters
  readonly podSecurity: PodSecurity
}

/** The instance of a request, in its cluster. */
export interface Target {
  readonly kind: 'CLUSTER_INST' | 'APP_INST'
  readonly api: KubernetesApi
  readonly cloudletId: string
  readonly path: Path
  readonly namespace: string
  readonly anchor: PlacedRef
  /** @throws CrmProblem for a wrong spec */
  plan(record: InstanceRecord): Plan
}

/**
 * The place of the instance, present or future. Null: it is absent, and stays so.
 * @throws CrmProblem
 */
export async function findTarget(site: Site, request: CrmRequest, context: CrmContext): Promise<Target | null> {
  const { cloudlet, podSecurity } = site
  const path = below(site, request)
  const [cluster = '', app] = path
  const namespace = namespaceName(cloudlet, cluster)
  const api = await apiOf(site, request, context, namespace)
  if (!api) return null
  const at = { api, cloudletId: cloudlet.id, path, namespace }
  return app === undefined
    ? {
        ...{ ...at, kind: 'CLUSTER_INST', anchor: refTo('Namespace', null, namespace) },
        plan: (record) => planCluster({ ...at, record }, podSecurity),
      }
    : {
        ...{ ...at, kind: 'APP_INST', anchor: refTo('Deployment', namespace, appName(app)) },
        plan: (record) => planApp({ ...at, record }, podSecurity),
      }
}

function below({ cloudlet }: Site, { kind, path }: CrmRequest): Path {
  const [name, ...rest] = path
  if (name === cloudlet.name && rest.length === (kind === 'CLUSTER_INST' ? 1 : 2)) return rest
  throw new CrmProblem('The path names no instance of this cloudlet.', 'NO_PLACE')
}

/** Null: it is not there, and is to be deleted. */
async function apiOf(
  site: Site,
  { kind, action, path, spec }: CrmRequest,
  context: CrmContext,
  namespace: string,
): Promise<KubernetesApi | null> {
  const found = await findNamespace(site, context, namespace, path.slice(1, 2))
  if (action === 'DELETE') return found?.api ?? null
  if (kind === 'APP_INST') {
    if (!found) throw new CrmProblem(`There is no namespace of the cluster ${path[1]}: update it first.`, 'NO_CLUSTER')
    if (found.object.metadata.deletionTimestamp === undefined) return found.api
    throw new CrmProblem(`The namespace of the cluster ${path[1]} is being deleted.`, 'NO_CLUSTER')
  }
  const { cluster = null } = readClusterSpec(spec)
  const open = openOptions(context)
  if (!found) return cluster === null ? site.clusters.own(open) : await site.clusters.named(cluster, open)
  if (found.name === cluster) return found.api
  const where = found.name === null ? 'the CRM’s own' : found.name
  throw new CrmProblem(
    `spec.cluster: it is on ${where}, and cannot move: delete it, and create it there.`,
    'CLUSTER_FIXED',
  )
}

/** One cluster after the other, so that one that does not answer stops only what may be on it. */
async function findNamespace({ clusters, cloudlet }: Site, context: CrmContext, namespace: string, path: Path) {
  for (const { name, api } of await clusters.all(openOptions(context))) {
    const object = await api.find<KubernetesObject>(refTo('Namespace', null, namespace).path)
    if (object && isOurs(object, cloudlet.id, path) && clusterOf(object) === name) return { name, api, object }
  }
  return null
}

const openOptions = ({ signal, progress }: CrmContext) => ({
  signal,
  onRetry: (error: Error): void => progress(`Asking again: ${troubleOf(error)}`),
})
