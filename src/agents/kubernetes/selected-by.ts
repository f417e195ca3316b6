import type { KubernetesApi } from './api.ts'
import { fieldsOf, type KubernetesObject } from './objects.ts'

/** API paths in a workload's namespace. */
const PATHS = { pods: '/api/v1', replicasets: '/apis/apps/v1' } as const

/** The first objects that a workload selects. None without the right to list them: they only explain. */
export async function selectedBy<T = KubernetesObject>(
  api: KubernetesApi,
  { metadata, spec }: KubernetesObject,
  collection: keyof typeof PATHS,
): Promise<readonly T[]> {
  const labels = Object.entries(fieldsOf(fieldsOf(spec?.selector).matchLabels))
  if (labels.length === 0 || metadata.namespace === undefined) return []
  const query = { labelSelector: labels.map(([name, value]) => `${name}=${String(value)}`).join(','), limit: '50' }
  const path = `${PATHS[collection]}/namespaces/${encodeURIComponent(metadata.namespace)}/${collection}`
  const found = await api.get<{ items: readonly T[] }>(path, { query }).catch(() => null)
  return found?.items ?? []
}
