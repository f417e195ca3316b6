import type { KubernetesApi } from '../../../../agents/kubernetes/api.ts'
import { changesBetween } from '../../../../agents/kubernetes/changes.ts'
import { inBatches } from '../../../../agents/kubernetes/in-batches.ts'
import type { KubernetesObject } from '../../../../agents/kubernetes/objects.ts'
import { DEPLOYMENTS, resourcePath } from '../../../../agents/kubernetes/paths.ts'
import { type CrmObject, CrmProblem } from '../../../../client/index.ts'
import { apply } from './apply.ts'
import type { OpenOptions } from './clusters.ts'
import { clusterOf, type InstanceRecord, isOurs, pathOf, readRecord } from './instance-record.ts'
import { LABELS } from './names.ts'
import type { PlacedObject, Plan } from './plan.ts'
import { planApp } from './plan-app.ts'
import { planCluster } from './plan-cluster.ts'
import type { Site } from './target.ts'

/** The instances of a cloudlet, from its clusters. An instance that differs from its spec has no revision. */
export async function listAll(site: Site, options: OpenOptions): Promise<readonly CrmObject[]> {
  const found: CrmObject[] = []
  for (const { name, api } of await site.clusters.all(options)) {
    const listed = await listAnchors(site, api, resourcePath('v1', 'namespaces'), 1)
    // Two kubeconfigs may be of one cluster.
    const namespaces = listed.filter((namespace) => clusterOf(namespace) === name)
    const names = new Set(namespaces.map(({ metadata }) => metadata.name))
    const apps = await listAnchors(site, api, resourcePath('apps/v1', DEPLOYMENTS), 2)
    const anchors = [...namespaces, ...apps.filter(({ metadata }) => names.has(metadata.namespace ?? ''))]
    found.push(...(await inBatches(anchors, (anchor) => describe(site, api, anchor, options))))
  }
  return found
}

async function listAnchors(
  { cloudlet }: Site,
  api: KubernetesApi,
  collection: string,
  depth: number,
): Promise<readonly KubernetesObject[]> {
  const labelSelector = `${LABELS.cloudlet}=${cloudlet.id}`
  const anchors: KubernetesObject[] = []
  for await (const { items } of api.pages<KubernetesObject>(collection, { query: { labelSelector } }))
    anchors.push(...items.filter((one) => pathOf(one)?.length === depth))
  return anchors
}

async function describe(
  site: Site,
  api: KubernetesApi,
  anchor: KubernetesObject,
  { signal }: OpenOptions,
): Promise<CrmObject> {
  const path = pathOf(anchor) ?? []
  const named = { kind: path.length === 1 ? 'CLUSTER_INST' : 'APP_INST', path: [site.cloudlet.name, ...path] } as const
  if (anchor.metadata.deletionTimestamp !== undefined) return { ...named, phase: 'DELETING', specRevision: null }
  const record = readRecord(anchor)
  if (record && record.phase !== 'READY') return { ...named, phase: record.phase, specRevision: null }
  const isRight = record !== null && (await isAsMade(site, api, anchor, record, signal))
  return { ...named, phase: 'READY', specRevision: isRight ? record.specRevision : null }
}

/** True if applying the same spec would change nothing. */
async function isAsMade(
  site: Site,
  api: KubernetesApi,
  anchor: KubernetesObject,
  record: InstanceRecord,
  signal: AbortSignal,
): Promise<boolean> {
  const path = pathOf(anchor) ?? []
  const plan = planOf(site, anchor, record)
  if (!plan) return false
  const wanted = [plan.anchor, ...plan.parts(anchor)]
  const same = await Promise.all(wanted.map((one) => isUnchanged(api, one, signal)))
  const unwanted = await Promise.all(plan.unwanted.map((ref) => api.find<KubernetesObject>(ref.path)))
  const isLeft = unwanted.some((object) => object !== null && isOurs(object, site.cloudlet.id, path))
  return same.every(Boolean) && !isLeft
}

/** Null: its spec was changed in the cluster into one that is not valid. */
function planOf({ cloudlet, podSecurity }: Site, anchor: KubernetesObject, record: InstanceRecord): Plan | null {
  const path = pathOf(anchor) ?? []
  const namespace = anchor.metadata.namespace ?? anchor.metadata.name
  const input = { cloudletId: cloudlet.id, path, namespace, record }
  try {
    return path.length === 1 ? planCluster(input, podSecurity) : planApp(input, podSecurity)
  } catch (error) {
    if (error instanceof CrmProblem) return null
    throw error
  }
}

async function isUnchanged(api: KubernetesApi, object: PlacedObject, signal: AbortSignal): Promise<boolean> {
  const before = await api.find<KubernetesObject>(object.path)
  if (!before) return false
  const after = await apply(api, object, { signal, dryRun: true })
  return after !== null && changesBetween(before, after).length === 0
}
