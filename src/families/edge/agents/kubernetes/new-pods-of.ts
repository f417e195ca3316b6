import type { V1Pod } from '@kubernetes/client-node'
import type { KubernetesApi } from '../../../../agents/kubernetes/api.ts'
import type { KubernetesObject } from '../../../../agents/kubernetes/objects.ts'
import { selectedBy } from '../../../../agents/kubernetes/selected-by.ts'

type Pod = KubernetesObject & V1Pod

/** By the deployment's controller, on the deployment and on its replica sets. */
const REVISION = 'deployment.kubernetes.io/revision'
const HASH = 'pod-template-hash'

/** The pods that a deployment makes by its present spec, without those of earlier ones. */
export async function newPodsOf(api: KubernetesApi, deployment: KubernetesObject): Promise<readonly Pod[]> {
  const revision = deployment.metadata.annotations?.[REVISION]
  const sets = await selectedBy(api, deployment, 'replicasets')
  const hash = sets.find(({ metadata }) => metadata.annotations?.[REVISION] === revision)?.metadata.labels?.[HASH]
  if (revision === undefined || hash === undefined) return []
  const pods = await selectedBy<Pod>(api, deployment, 'pods')
  return pods.filter(({ metadata }) => metadata.labels?.[HASH] === hash && metadata.deletionTimestamp === undefined)
}
