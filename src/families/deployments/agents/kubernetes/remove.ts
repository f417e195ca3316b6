import { ApiError, isStatus } from '../../../../agents/kubernetes/api.ts'
import { inBatches } from '../../../../agents/kubernetes/in-batches.ts'
import { type KubernetesObject, type ObjectRef, titleOf } from '../../../../agents/kubernetes/objects.ts'
import { type Going, untilGone } from '../../../../agents/kubernetes/until-gone.ts'
import { APPLIED, ITEM, ownerOf } from './marks.ts'
import type { Run } from './placed.ts'
import { refusedBy } from './refusals.ts'
import { wavesOf } from './waves.ts'

/** Deletes objects of the item in the reverse of their order, each wave once the one after it is gone. */
export async function removeAll(run: Run, refs: readonly ObjectRef[]): Promise<void> {
  for (const { objects } of [...wavesOf(refs)].reverse()) {
    const going = await inBatches([...objects].reverse(), (ref) => remove(run, ref))
    await untilGone(
      run.api,
      going.filter((one) => one !== null),
      {
        signal: run.context.signal,
        onWait: (step, value, total) => run.context.report({ progress: { step, value, total, unit: 'objects' } }),
      },
    )
  }
}

/** Null: it is not there, or not the item's any more. */
async function remove(run: Run, ref: ObjectRef): Promise<Going | null> {
  const { api, item, context } = run
  const path = await run.discovery.pathOf(ref)
  const found = path === null ? null : await api.find<KubernetesObject>(path)
  if (!found || path === null) return null
  if (ownerOf(found) !== item) {
    context.log('SYSTEM', `${titleOf(ref)} is not this item’s any more: it stays.`)
    return null
  }
  if (isKept(found)) {
    await release(run, ref, path)
    return null
  }
  const { uid, deletionTimestamp } = found.metadata
  if (deletionTimestamp === undefined) {
    await requestDeletion(run, { ...ref, path, uid })
    context.log('STEP', `${titleOf(ref)} is deleted`)
  }
  return { ...ref, path, uid }
}

/** Helm's word for what is to outlive that which has brought it. */
const isKept = ({ metadata }: KubernetesObject): boolean =>
  metadata.annotations?.['helm.sh/resource-policy']?.trim().toLowerCase() === 'keep'

/** It belongs to nobody then. */
async function release({ api, context }: Run, ref: ObjectRef, path: string): Promise<void> {
  try {
    await api.patch(path, { metadata: { annotations: { [ITEM]: null, [APPLIED]: null } } })
  } catch (error) {
    if (!isStatus(error, 404)) throw refusedBy(error, { ...ref, title: titleOf(ref) })
  }
  context.log('STEP', `${titleOf(ref)} stays, as its annotation says`)
}

/** With all that it has created. Not of another object that has its name by now. */
async function requestDeletion({ api }: Run, { path, uid, ...ref }: Going): Promise<void> {
  try {
    await api.delete(path, { propagationPolicy: 'Foreground', preconditions: { uid } })
  } catch (error) {
    if (!(error instanceof ApiError && isStatus(error, 409))) throw refusedBy(error, { ...ref, title: titleOf(ref) })
  }
}
