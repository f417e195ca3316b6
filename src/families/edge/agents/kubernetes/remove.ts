import { requestDeletion, type Terminating, untilGone } from '../../../../agents/kubernetes/deletion.ts'
import { type KubernetesObject, type PlacedRef, titleOf } from '../../../../agents/kubernetes/objects.ts'
import { DEPLOYMENTS, resourcePath } from '../../../../agents/kubernetes/paths.ts'
import { type CrmContext, CrmProblem } from '../../../../client/index.ts'
import { isOurs } from './instance-record.ts'
import { appName, LABELS } from './names.ts'
import { refTo } from './plan.ts'
import { problemOf } from './problems.ts'
import type { Target } from './target.ts'

/** Deletes an instance with all that it has, and waits until it is gone. @throws CrmProblem */
export async function remove(target: Target, { signal, progress }: CrmContext): Promise<void> {
  if (target.kind === 'CLUSTER_INST') await refuseWithApps(target)
  const refs = target.kind === 'APP_INST' ? [target.anchor, serviceOf(target)] : [target.anchor]
  const terminating: Terminating[] = []
  for (const ref of refs) {
    const one = await removeOne(target, ref)
    if (one) terminating.push(one)
  }
  await untilGone(target.api, terminating, { signal, onWait: progress })
}

/** It goes with the deployment, unless that was deleted on its own in the cluster. */
const serviceOf = ({ namespace, path }: Target): PlacedRef => refTo('Service', namespace, appName(path.at(-1) ?? ''))

/** Null: it is not there, or not ours. */
async function removeOne({ api, cloudletId, path }: Target, ref: PlacedRef): Promise<Terminating | null> {
  const found = await api.find<KubernetesObject>(ref.path)
  if (!found || !isOurs(found, cloudletId, path)) return null
  const { uid, deletionTimestamp } = found.metadata
  if (deletionTimestamp === undefined)
    await requestDeletion(api, { ...ref, uid }).catch((error) => {
      throw problemOf(error, ref)
    })
  return { ...ref, uid }
}

/** App instances that are unknown to the server would be deleted with the namespace. */
async function refuseWithApps({ api, cloudletId, namespace, anchor }: Target): Promise<void> {
  const query = { labelSelector: `${LABELS.cloudlet}=${cloudletId}`, limit: '10' }
  const path = resourcePath('apps/v1', DEPLOYMENTS, { namespace })
  const { items } = await api.get<{ items: readonly KubernetesObject[] }>(path, { query })
  const names = items
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .map(({ metadata }) => metadata.name)
  if (names.length > 0)
    throw new CrmProblem(`${titleOf(anchor)} still has the apps ${names.join(', ')}: delete them first.`, 'HAS_APPS')
}
