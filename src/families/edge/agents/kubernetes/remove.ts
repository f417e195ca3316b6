import { isStatus, type KubernetesApi } from '../../../../agents/kubernetes/api.ts'
import { DEPLOYMENTS } from '../../../../agents/kubernetes/kind-names.ts'
import { type KubernetesObject, titleOf } from '../../../../agents/kubernetes/objects.ts'
import { type Going, untilGone } from '../../../../agents/kubernetes/until-gone.ts'
import { type CrmContext, CrmProblem } from '../../../../client/index.ts'
import { isOurs } from './marks.ts'
import { appName, LABELS } from './names.ts'
import { type PlacedRef, refTo } from './plan.ts'
import { refusalOf } from './problems.ts'
import type { Target } from './target.ts'

/** Deletes an instance with all that it has, and waits until it is gone. @throws CrmProblem */
export async function remove(target: Target, { signal, progress }: CrmContext): Promise<void> {
  if (target.kind === 'CLUSTER_INST') await refuseWithApps(target)
  const refs = target.kind === 'APP_INST' ? [target.anchor, serviceOf(target)] : [target.anchor]
  const going: Going[] = []
  for (const ref of refs) {
    const one = await requestDeletion(target, ref)
    if (one) going.push(one)
  }
  await untilGone(target.api, going, { signal, onWait: progress })
}

/** It goes with the deployment, unless that was deleted on its own in the cluster. */
const serviceOf = ({ namespace, path }: Target): PlacedRef => refTo('Service', namespace, appName(path.at(-1) ?? ''))

/** With all that the cluster has made of it. Null: it is not there, or not ours. */
async function requestDeletion({ api, cloudletId, path }: Target, ref: PlacedRef): Promise<Going | null> {
  const found = await api.find<KubernetesObject>(ref.path)
  if (!found || !isOurs(found, cloudletId, path)) return null
  const { uid, deletionTimestamp } = found.metadata
  if (deletionTimestamp === undefined) await deleteOne(api, ref, uid)
  return { ...ref, uid }
}

async function deleteOne(api: KubernetesApi, ref: PlacedRef, uid: string | undefined): Promise<void> {
  try {
    await api.delete(ref.path, { propagationPolicy: 'Foreground', preconditions: { uid } })
  } catch (error) {
    // Another object has its name by now, or it is being deleted.
    if (!isStatus(error, 409)) throw refusalOf(error, ref)
  }
}

/** App instances that are unknown to the server would be deleted with the namespace. */
async function refuseWithApps({ api, cloudletId, namespace, anchor }: Target): Promise<void> {
  const query = { labelSelector: `${LABELS.cloudlet}=${cloudletId}`, limit: '10' }
  const path = `/apis/apps/v1/namespaces/${namespace}/${DEPLOYMENTS}`
  const { items } = await api.get<{ items: readonly KubernetesObject[] }>(path, { query })
  const names = items
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .map(({ metadata }) => metadata.name)
  if (names.length > 0)
    throw new CrmProblem(`${titleOf(anchor)} still has the apps ${names.join(', ')}: delete them first.`, 'HAS_APPS')
}
