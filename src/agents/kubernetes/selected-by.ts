import type { KubernetesApi } from './api.ts'
import { fieldsOf, type KubernetesObject } from './objects.ts'
import { resourcePath } from './paths.ts'

const VERSIONS = { pods: 'v1', replicasets: 'apps/v1' } as const

/** The first objects that a workload selects. None without the right to list them: they only explain. */
export async function selectedBy<T = KubernetesObject>(
  api: KubernetesApi,
  { metadata, spec }: KubernetesObject,
  collection: keyof typeof VERSIONS,
): Promise<readonly T[]> {
  const labels = Object.entries(fieldsOf(fieldsOf(spec?.selector).matchLabels))
  if (labels.length === 0 || metadata.namespace === undefined) return []
  const query = { labelSelector: labels.map(([name, value]) => `${name}=${String(value)}`).join(','), limit: '50' }
  const path = resourcePath(VERSIONS[collection], collection, { namespace: metadata.namespace })
  const found = await api.get<{ items: readonly T[] }>(path, { query }).catch(() => null)
  return found?.items ?? []
}
