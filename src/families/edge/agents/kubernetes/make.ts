import { type KubernetesObject, titleOf } from '../../../../agents/kubernetes/objects.ts'
import { untilGone } from '../../../../agents/kubernetes/until-gone.ts'
import { type CrmContext, CrmProblem, type CrmRequest } from '../../../../client/index.ts'
import { pause, retryDelay } from '../../../../client/pause.ts'
import { apply } from './apply.ts'
import { isOurs, type Made, type Marks, readMarks } from './marks.ts'
import type { PlacedObject, PlacedRef, Plan } from './plan.ts'
import { problemOf, refusalOf } from './problems.ts'
import { remove } from './remove.ts'
import type { Target } from './target.ts'
import { untilReady } from './until-ready.ts'

/** The state before a request. */
interface Before {
  /** Nothing complete was there. */
  readonly isNew: boolean
  readonly previous: Made | null
}

/**
 * Makes an instance as the request says, and waits until it is ready. It may be interrupted and repeated at any point:
 * the first of its objects records the progress and the earlier state.
 * @throws CrmProblem once it is as it was before
 */
export async function make(target: Target, request: CrmRequest, context: CrmContext): Promise<void> {
  const { objectId, operationId, specRevision, spec, action } = request
  const wanted: Made = { objectId, operationId, specRevision, spec }
  const phase = action === 'CREATE' ? 'CREATING' : 'UPDATING'
  // All that can be foreseen is refused before the first change.
  const plan = target.plan({ ...wanted, phase, previous: null })
  const before = await lookAt(target, plan, context)
  try {
    await bringTo(target, { ...wanted, phase, previous: before.previous }, context)
  } catch (error) {
    context.signal.throwIfAborted()
    await putBack(target, before, context)
    throw problemOf(error)
  }
}

/** @throws CrmProblem when something must not be touched */
async function lookAt(target: Target, plan: Plan, context: CrmContext): Promise<Before> {
  const { api } = target
  const parts = plan.parts(plan.anchor.manifest)
  const [anchor] = await Promise.all([plan.anchor, ...parts].map((ref) => findOurs(target, ref)))
  if (!anchor) return { isNew: true, previous: null }
  const { uid, deletionTimestamp } = anchor.metadata
  if (deletionTimestamp !== undefined) {
    await untilGone(api, [{ ...plan.anchor, uid }], { signal: context.signal, onWait: context.progress })
    return { isNew: true, previous: null }
  }
  const marks = readMarks(anchor)
  if (marks?.phase === 'READY') return { isNew: false, previous: madeOf(marks) }
  return { isNew: marks !== null && marks.previous === null, previous: marks?.previous ?? null }
}

const madeOf = ({ objectId, operationId, specRevision, spec }: Marks): Made => ({
  objectId,
  operationId,
  specRevision,
  spec,
})

async function findOurs({ api, cloudletId, path }: Target, ref: PlacedRef): Promise<KubernetesObject | null> {
  const found = await api.find<KubernetesObject>(ref.path)
  if (!found || isOurs(found, cloudletId, path)) return found
  throw new CrmProblem(`${titleOf(ref)} exists, and is not this instance’s.`, 'NOT_OWNED')
}

async function bringTo(target: Target, marks: Marks, context: CrmContext): Promise<void> {
  const plan = target.plan(marks)
  await applyAll(target, plan, context)
  await untilReady(target, context)
  await markReady(target, marks, context)
}

/** The last change: from now on it exists as its spec says. */
async function markReady(target: Target, marks: Marks, context: CrmContext): Promise<void> {
  await applyOne(target, target.plan({ ...marks, phase: 'READY', previous: null }).anchor, context)
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
    throw refusalOf(error, object)
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
async function putBack(target: Target, { isNew, previous }: Before, context: CrmContext): Promise<void> {
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
async function bringBack(target: Target, previous: Made, context: CrmContext): Promise<void> {
  const marks: Marks = { ...previous, phase: 'UPDATING', previous }
  await applyAll(target, target.plan(marks), context)
  try {
    await untilReady(target, context)
  } catch (error) {
    if (!(error instanceof CrmProblem)) throw error
  }
  await markReady(target, marks, context)
}
