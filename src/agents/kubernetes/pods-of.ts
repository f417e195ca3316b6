import type { KubernetesApi } from './api.ts'
import { fieldsOf, type KubernetesObject } from './objects.ts'

/** The first pods of a workload. None without the right to list pods: they only explain. */
export async function podsOf<P = KubernetesObject>(
  api: KubernetesApi,
  { metadata, spec }: KubernetesObject,
): Promise<readonly P[]> {
  const labels = Object.entries(fieldsOf(fieldsOf(spec?.selector).matchLabels))
  if (labels.length === 0 || metadata.namespace === undefined) return []
  const query = { labelSelector: labels.map(([name, value]) => `${name}=${String(value)}`).join(','), limit: '20' }
  const path = `/api/v1/namespaces/${encodeURIComponent(metadata.namespace)}/pods`
  const pods = await api.get<{ items: readonly P[] }>(path, { query }).catch(() => null)
  return pods?.items ?? []
}
