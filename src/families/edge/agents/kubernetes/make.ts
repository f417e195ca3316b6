import { untilGone } from '../../../../agents/kubernetes/deletion.ts'
import { type KubernetesObject, type PlacedRef, titleOf } from '../../../../agents/kubernetes/objects.ts'
import { type CrmContext, CrmProblem, type CrmRequest } from '../../../../client/index.ts'
import { pause, retryDelay } from '../../../../client/pause.ts'
import { apply } from './apply.ts'
import { type InstanceRecord, isOurs, type Revision, readRecord, revisionOf } from './instance-record.ts'
import type { PlacedObject, Plan } from './plan.ts'
import { problemOf } from './problems.ts'
import { remove } from './remove.ts'
import type { Target } from './target.ts'
import { untilReady } from './until-ready.ts'

/** The state before a request. */
interface PriorState {
  /** Nothing complete was there. */
  readonly isNew: boolean
  readonly previous: Revision | null
}

/**
 * Makes an instance as the request says, and waits until it is ready. It may be interrupted and repeated at any point:
 * the first of its objects records the progress and the earlier state.
 * @throws CrmProblem once it is as it was before
 */
export async function make(target: Target, context: CrmContext, request: CrmRequest): Promise<void> {
  const { objectId, operationId, specRevision, spec, action } = request
  const wanted: Revision = { objectId, operationId, specRevision, spec }
  const phase = action === 'CREATE' ? 'CREATING' : 'UPDATING'
  // All that can be foreseen is refused before the first change.
  const plan = target.plan({ ...wanted, phase, previous: null })
  const prior = await readPrior(target, plan, context)
  try {
    await bringTo(target, { ...wanted, phase, previous: prior.previous }, context)
  } catch (error) {
    context.signal.throwIfAborted()
    await putBack(target, prior, context)
    throw problemOf(error)
  }
}

/** @throws CrmProblem when something must not be touched */
async function readPrior(target: Target, plan: Plan, context: CrmContext): Promise<PriorState> {
  const { api } = target
  const parts = plan.parts(plan.anchor.manifest)
  const [anchor] = await Promise.all([plan.anchor, ...parts].map((ref) => requireOurs(target, ref)))
  if (!anchor) return { isNew: true, previous: null }
  const { uid, deletionTimestamp } = anchor.metadata
  if (deletionTimestamp !== undefined) {
    await untilGone(api, [{ ...plan.anchor, uid }], { signal: context.signal, onWait: context.progress })
    return { isNew: true, previous: null }
  }
  const record = readRecord(anchor)
  if (record?.phase === 'READY') return { isNew: false, previous: revisionOf(record) }
  return { isNew: record !== null && record.previous === null, previous: record?.previous ?? null }
}

async function requireOurs({ api, cloudletId, path }: Target, ref: PlacedRef): Promise<KubernetesObject | null> {
  const found = await api.find<KubernetesObject>(ref.path)
  if (!found || isOurs(found, cloudletId, path)) return found
  throw new CrmProblem(`${titleOf(ref)} exists, and is not this instance’s.`, 'NOT_OWNED')
}

async function bringTo(target: Target, record: InstanceRecord, context: CrmContext): Promise<void> {
  const plan = target.plan(record)
  await applyAll(target, plan, context)
  await untilReady(target, context)
  await markReady(target, record, context)
}

/** The last change: from now on it exists as its spec says. */
async function markReady(target: Target, record: InstanceRecord, context: CrmContext): Promise<void> {
  await applyOne(target, target.plan({ ...record, phase: 'READY', previous: null }).anchor, context)
}

async function applyAll(target: Target, plan: Plan, context: CrmContext): Promise<void> {
  context.progress(`Applying ${titleOf(plan.anchor)}`)
  const anchor = await applyOne(target, plan.anchor, context)
  for (const part of plan.parts(anchor)) await applyOne(target, part, context)
  for (const ref of plan.unwanted) await removeUnwanted(target, ref, context)
}

async function applyOne({ api }: Target, object: PlacedObject, { signal }: CrmContext): Promise<KubernetesObject> {
  try {
    const applied = await apply(api, object, { signal, dryRun: false })
    return applied ?? object.manifest
  } catch (error) {
    signal.throwIfAborted()
    throw problemOf(error, object)
  }
}

async function removeUnwanted(target: Target, ref: PlacedRef, { signal, progress }: CrmContext): Promise<void> {
  const { api, cloudletId, path } = target
  const found = await api.find<KubernetesObject>(ref.path)
  if (!found || !isOurs(found, cloudletId, path)) return
  const { uid } = found.metadata
  await api.delete(ref.path, { preconditions: { uid } })
  await untilGone(api, [{ ...ref, uid }], { signal, onWait: progress })
}

/** Until it is as it was before, or the request must stop. Says nothing meanwhile if it cannot be: then the server notices. */
async function putBack(target: Target, { isNew, previous }: PriorState, context: CrmContext): Promise<void> {
  const { signal, log } = context
  for (let failures = 0; ; failures += 1) {
    try {
      if (previous) return await bringBack(target, previous, context)
      return isNew ? await remove(target, context) : undefined
    } catch (error) {
      signal.throwIfAborted()
      const known = problemOf(error)
      if (!(known instanceof CrmProblem)) throw error
      log('SYSTEM', `It cannot be put back as it was: ${known.message}`)
    }
    await pause(retryDelay(failures), signal)
    signal.throwIfAborted()
  }
}

/** It need not become ready: it may not have been so before. */
async function bringBack(target: Target, previous: Revision, context: CrmContext): Promise<void> {
  const record: InstanceRecord = { ...previous, phase: 'UPDATING', previous }
  await applyAll(target, target.plan(record), context)
  try {
    await untilReady(target, context)
  } catch (error) {
    if (!(error instanceof CrmProblem)) throw error
  }
  await markReady(target, record, context)
}
