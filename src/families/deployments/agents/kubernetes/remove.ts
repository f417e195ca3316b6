import { unless } from '../../../../agents/kubernetes/api.ts'
import { requestDeletion, type Terminating, untilGone } from '../../../../agents/kubernetes/deletion.ts'
import { instanceOf, isKept, wantedIn } from '../../../../agents/kubernetes/holdings.ts'
import { inBatches } from '../../../../agents/kubernetes/in-batches.ts'
import {
  fieldsOf,
  groupOf,
  type KubernetesObject,
  type ObjectMetadata,
  type ObjectRef,
  titleOf,
} from '../../../../agents/kubernetes/objects.ts'
import { pollUntil } from '../../../../agents/kubernetes/poll.ts'
import { pause } from '../../../../client/pause.ts'
import { APPLIED, ITEM, ownerOf, WANTED_BY } from './annotations.ts'
import type { Run } from './placed.ts'
import { isIgnored } from './policies.ts'
import { refusedBy } from './refusals.ts'
import { wavesOf } from './waves.ts'

/** The objects that an item has from now on. */
export interface Wanted {
  readonly refs: readonly ObjectRef[]
  /** The same, as they are in the cluster. One of them may be served under another group as well. */
  readonly objects: readonly KubernetesObject[]
}
export const NOTHING: Wanted = { refs: [], objects: [] }

interface Removal {
  readonly wanted: Wanted
  /** Something wanted that would go with an object. Null: nothing would. */
  readonly holdOf: (found: KubernetesObject, ref: ObjectRef) => Promise<string | null>
}

/** Deletes what the item no longer has. Returns what stays, since something wanted would go with it: it is tried again. */
export const prune = (run: Run, refs: readonly ObjectRef[], wanted: Wanted): Promise<readonly ObjectRef[]> =>
  removeAll(run, refs, { wanted, holdOf: (found) => heldBy(run, found, wanted) })

/** The objects of `refs` that applying `wanted` would delete. */
export async function pruned(run: Run, refs: readonly ObjectRef[], wanted: Wanted): Promise<readonly ObjectRef[]> {
  const judged = await inBatches(refs, async (ref) => {
    const own = await findOwn(run, ref)
    if (!own || isSame(own.found, wanted) || isKept(own.found.metadata) || isIgnored(run, ref)) return []
    return (await heldBy(run, own.found, wanted)) === null ? [ref] : []
  })
  return judged.flat()
}

/**
 * Deletes an item's objects. An object whose deletion would also delete a wanted one is released, after waiting for
 * that one to go.
 */
export async function removeItem(run: Run, refs: readonly ObjectRef[]): Promise<void> {
  const stays = await removeAll(run, refs, { wanted: NOTHING, holdOf: (found, ref) => untilFree(run, found, ref) })
  for (const ref of stays) {
    const path = await run.discovery.pathOf(ref)
    if (path !== null) await release(run, ref, path)
  }
}

/** Deletes objects of the item in the reverse of their order, each wave once the one after it is gone. Returns what stays. */
async function removeAll(run: Run, refs: readonly ObjectRef[], removal: Removal): Promise<readonly ObjectRef[]> {
  const stays: ObjectRef[] = []
  for (const { objects } of [...wavesOf(refs)].reverse()) {
    const removed = await inBatches([...objects].reverse(), (ref) => remove(run, ref, removal))
    stays.push(...removed.flatMap((one) => (one && 'stays' in one ? [one.stays] : [])))
    await untilGone(
      run.api,
      removed.flatMap((one) => (one && 'uid' in one ? [one] : [])),
      {
        signal: run.context.signal,
        onWait: (step, value, total) => run.context.report({ progress: { step, value, total, unit: 'objects' } }),
      },
    )
  }
  return stays
}

/** Null: it is not there, not the item's any more, or a wanted object under another name. */
async function remove(
  run: Run,
  ref: ObjectRef,
  { wanted, holdOf }: Removal,
): Promise<Terminating | { readonly stays: ObjectRef } | null> {
  const own = await findOwn(run, ref)
  if (!own || isSame(own.found, wanted)) return null
  const { found, path } = own
  if (isKept(found.metadata) || isIgnored(run, ref)) {
    await release(run, ref, path)
    run.context.log('STEP', `${titleOf(ref)} stays, as its policy says`)
    return null
  }
  const heir = await heirOf(run, found, path)
  if (heir !== null) {
    const annotations = { [ITEM]: heir, [WANTED_BY]: null }
    await unless([404], run.api.patch(path, { metadata: { annotations } })).catch(refuse(ref))
    run.context.log('STEP', `${titleOf(ref)} is handed over to the item ${heir}`)
    return null
  }
  const { uid, deletionTimestamp } = found.metadata
  if (deletionTimestamp === undefined) {
    const hold = await holdOf(found, ref)
    if (hold !== null) {
      run.context.log('STEP', `${titleOf(ref)} stays: ${hold} would go with it`)
      return { stays: ref }
    }
    await requestDeletion(run.api, { ...ref, path, uid }).catch(refuse(ref))
    run.context.log('STEP', `${titleOf(ref)} is deleted`)
  }
  return { ...ref, path, uid }
}

/** Bounds the wait for an item that polls every two seconds. */
const ANSWER_MS = 6_000

/** The item that waits for the object now. Null: none, or the deployer that has asked is gone, and its question is left over. */
async function heirOf(
  { api, item, context }: Run,
  { metadata }: KubernetesObject,
  path: string,
): Promise<string | null> {
  const asked = metadata.annotations?.[WANTED_BY]
  if (asked === undefined || asked === item) return null
  await unless([404], api.patch(path, { metadata: { annotations: { [WANTED_BY]: null } } }))
  const since = performance.now()
  let heir: string | undefined
  await pollUntil(async () => {
    heir = (await api.find<KubernetesObject>(path))?.metadata.annotations?.[WANTED_BY]
    return heir !== undefined || performance.now() - since > ANSWER_MS
  }, context.signal)
  return heir ?? null
}

async function findOwn(run: Run, ref: ObjectRef) {
  const { api, item, context } = run
  const path = await run.discovery.pathOf(ref)
  const found = path === null ? null : await api.find<KubernetesObject>(path)
  if (!found || path === null) return null
  if (ownerOf(found) === item) return { found, path }
  context.log('SYSTEM', `${titleOf(ref)} is not this item’s any more: it stays.`)
  return null
}

const isSame = ({ metadata: { uid } }: KubernetesObject, { objects }: Wanted): boolean =>
  objects.some(({ metadata }) => metadata.uid === uid)

/** The first wanted object that would go with another one. Null: there is none. */
async function heldBy({ api, item, inventory }: Run, found: KubernetesObject, wanted: Wanted): Promise<string | null> {
  const { uid, name } = found.metadata
  const owned = wanted.objects.find(({ metadata }) => metadata.ownerReferences?.some((owner) => owner.uid === uid))
  if (owned) return `${owned.kind} ${owned.metadata.name}`
  const isOwn = ({ annotations }: ObjectMetadata): boolean => annotations?.[ITEM] === item
  if (isKind(found, '', 'Namespace')) {
    const inside = wanted.refs.find(({ namespace }) => namespace === name)
    if (inside) return `${inside.kind} ${inside.name}`
    if (wanted !== NOTHING && inventory.namespace === name) return 'the deployer’s inventory'
    return await wantedIn(api, name, isOwn)
  }
  if (!isKind(found, 'apiextensions.k8s.io', 'CustomResourceDefinition')) return null
  const { group, names } = found.spec ?? {}
  const instance = wanted.refs.find((ref) => isKind(ref, String(group), String(fieldsOf(names).kind)))
  return instance ? `${instance.kind} ${instance.name}` : await instanceOf(api, found, isOwn)
}

const isKind = (one: Pick<ObjectRef, 'apiVersion' | 'kind'>, group: string, kind: string): boolean =>
  one.kind === kind && groupOf(one.apiVersion) === group

/** Other items of a tree are deleted at the same time. */
const PATIENCE_MS = 30_000
const LOOK_MS = 1_000

async function untilFree(run: Run, found: KubernetesObject, ref: ObjectRef): Promise<string | null> {
  const { signal, report } = run.context
  for (const since = performance.now(); ; ) {
    const hold = await heldBy(run, found, NOTHING)
    if (hold === null || performance.now() - since > PATIENCE_MS) return hold
    report({ progress: { step: `${titleOf(ref)} still holds ${hold}` } })
    await pause(LOOK_MS, signal)
    signal.throwIfAborted()
  }
}

/** It belongs to nobody then. */
async function release({ api }: Run, ref: ObjectRef, path: string): Promise<void> {
  const annotations = { [ITEM]: null, [APPLIED]: null }
  await unless([404], api.patch(path, { metadata: { annotations } })).catch(refuse(ref))
}

const refuse = (ref: ObjectRef) => (error: unknown) => {
  throw refusedBy(error, { ...ref, title: titleOf(ref) })
}
