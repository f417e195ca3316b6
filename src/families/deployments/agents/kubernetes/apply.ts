import { ApiError, unless } from '../../../../agents/kubernetes/api.ts'
import { applyManifest } from '../../../../agents/kubernetes/apply.ts'
import { type Change, changesBetween } from '../../../../agents/kubernetes/changes.ts'
import { requestDeletion, untilGone } from '../../../../agents/kubernetes/deletion.ts'
import { groupOf, type KubernetesObject } from '../../../../agents/kubernetes/objects.ts'
import { pollUntil } from '../../../../agents/kubernetes/poll.ts'
import { statusOf } from '../../../../agents/kubernetes/status-of.ts'
import { DeployError } from '../deploy-error.ts'
import { takeOver } from './adopt.ts'
import { APPLIED, ITEM, JOB, ownerOf, WANTED_BY } from './annotations.ts'
import type { Placed, Run } from './placed.ts'
import { refusedBy } from './refusals.ts'

/** The result of applying one manifest, or of a dry run. */
export interface Applied {
  readonly placed: Placed
  /** `left`: its policy says so. */
  readonly action: 'created' | 'recreated' | 'changed' | 'unchanged' | 'left'
  readonly changes: readonly Change[]
  /** The manifest is the one that was applied last: others have made the changes. */
  readonly isDrift: boolean
  /** As it was. Null: it was not there. */
  readonly before: KubernetesObject | null
  /** As the API server has it now. Null: a dry run cannot say. */
  readonly object: KubernetesObject | null
}

/** Annotations that state an object's origin, not its content. */
export const MARKS = [ITEM, APPLIED, JOB, WANTED_BY]

/** An object that moves from one item to another is handed over, if both run within so long. */
const HANDOVER_MS = 20_000

/**
 * The present object.
 * @throws DeployError when it must not be touched
 */
export async function requireOwned(run: Run, placed: Placed): Promise<KubernetesObject | null> {
  const { api, item, config } = run
  const { path, title, settings } = placed
  let found = await api.find<KubernetesObject>(path)
  const isFallback = settings.policy === 'fallback'
  if (found && isOfAnother(found, item) && !config.dryRun && !isFallback)
    found = await untilHandedOver(run, placed, found)
  if (!found) return null
  const owner = ownerOf(found)
  if (isFallback || owner === item || (owner === undefined && config.adopt === true)) return found
  const reason =
    owner === undefined
      ? 'exists and belongs to no item: `adopt: true` takes it over'
      : `belongs to another item, ${owner}: remove it there first`
  throw new DeployError('KUBERNETES_NOT_OWNED', `${title} ${reason}.`)
}

const isOfAnother = (found: KubernetesObject, item: string): boolean => {
  const owner = ownerOf(found)
  return owner !== undefined && owner !== item
}

/** Asks the other item for the object. Returns it as it is then; null: it is gone. */
async function untilHandedOver({ api, item, context }: Run, { path, title }: Placed, found: KubernetesObject) {
  const ask = (annotation: string | null) =>
    unless([404], api.patch(path, { metadata: { annotations: { [WANTED_BY]: annotation } } }))
  let last: KubernetesObject | null = found
  const since = performance.now()
  await pollUntil(async () => {
    last = await api.find<KubernetesObject>(path)
    if (!last || !isOfAnother(last, item) || performance.now() - since > HANDOVER_MS) return true
    // Asked again whenever the other item has taken the question away, to see if anybody is still there.
    if (last.metadata.annotations?.[WANTED_BY] !== item) await ask(item)
    context.report({
      progress: { step: `${title} belongs to another item, ${ownerOf(last)}: waiting until that gives it up` },
    })
    return false
  }, context.signal)
  if (last && isOfAnother(last, item)) await ask(null)
  return last
}

/** Applies a manifest, or with `dryRun` asks the API server what it would do. @throws DeployError */
export async function applyOne(run: Run, placed: Placed, { dryRun }: { readonly dryRun: boolean }): Promise<Applied> {
  const before = await requireOwned(run, placed)
  if (before && isLeft(run, placed, before)) return await leave(run, placed, before, dryRun)
  if (before && !dryRun && ownerOf(before) === undefined) await takeOver(run.api, before, placed)
  if (before && hasFailedBefore(run, before)) return await recreate(run, placed, before, dryRun)
  try {
    const object = await send(run, placed, { job: before?.metadata.annotations?.[JOB], isNew: !before, dryRun })
    if (!before) return { placed, action: 'created', changes: [], isDrift: false, before, object }
    const changes = object ? changesBetween(before, object, MARKS) : []
    const { annotations } = before.metadata
    const isSame = annotations?.[APPLIED] === placed.manifest.metadata.annotations?.[APPLIED]
    const action = changes.length > 0 ? 'changed' : 'unchanged'
    return { placed, action, changes, isDrift: isSame && changes.length > 0, before, object }
  } catch (error) {
    run.context.signal.throwIfAborted()
    if (!(before && isImmutable(error))) throw refusedBy(error, placed)
    if (placed.settings.immutable === 'recreate') return await recreate(run, placed, before, dryRun)
    const refused = refusedBy(error, placed) as DeployError
    throw new DeployError(
      refused.code,
      `${refused.message}. \`immutable: recreate\` deletes the object and creates it anew.`,
    )
  }
}

/** It is there, and its policy keeps it from being changed. */
function isLeft(run: Run, { settings: { policy } }: Placed, found: KubernetesObject): boolean {
  const owner = ownerOf(found)
  if (policy === 'immutable') return !hasFailedBefore(run, found)
  return policy === 'fallback' && owner !== run.item && !(owner === undefined && run.config.adopt === true)
}

async function leave({ api, item }: Run, placed: Placed, before: KubernetesObject, dryRun: boolean): Promise<Applied> {
  const left = { placed, action: 'left', changes: [], isDrift: false, before, object: before } as const
  // An adoption changes nothing else.
  if (placed.settings.policy === 'immutable' && ownerOf(before) === undefined && !dryRun)
    await unless([404], api.patch(placed.path, { metadata: { annotations: { [ITEM]: item } } }))
  return left
}

/** They end, and stay as they ended: a status of theirs says what an earlier job of the item has done. */
const ENDS = new Set(['batch/Job', '/Pod'])
const isEnding = ({ apiVersion, kind }: Pick<KubernetesObject, 'apiVersion' | 'kind'>): boolean =>
  ENDS.has(`${groupOf(apiVersion)}/${kind}`)

/** It has failed for good, and not in this job. */
const hasFailedBefore = ({ job }: Run, found: KubernetesObject): boolean =>
  isEnding(found) && found.metadata.annotations?.[JOB] !== job && statusOf(found).is === 'FAILED'

const isImmutable = (error: unknown): boolean =>
  error instanceof ApiError && error.reason === 'Invalid' && /immutable|updates to .* are forbidden/.test(error.message)

/** Deletes the object, waits until it is gone, and creates it. */
async function recreate(run: Run, placed: Placed, before: KubernetesObject, dryRun: boolean): Promise<Applied> {
  const recreated = { placed, action: 'recreated', changes: [], isDrift: false, before } as const
  if (dryRun) return { ...recreated, object: null }
  const { api, context } = run
  const going = { ...placed, uid: before.metadata.uid }
  await requestDeletion(api, going)
  await untilGone(api, [going], {
    signal: context.signal,
    onWait: (step, value, total) => context.report({ progress: { step, value, total, unit: 'objects' } }),
  })
  try {
    return { ...recreated, object: await send(run, placed, { isNew: true, dryRun }) }
  } catch (error) {
    context.signal.throwIfAborted()
    throw refusedBy(error, placed)
  }
}

interface Sending {
  /** The job that has created the object; absent: it is not known. */
  readonly job?: string | undefined
  readonly isNew: boolean
  readonly dryRun: boolean
}

/** Null: it cannot be said without the namespace or the definition, which would be created before. @throws ApiError */
async function send(run: Run, placed: Placed, { job, isNew, dryRun }: Sending): Promise<KubernetesObject | null> {
  const { api, context } = run
  const { manifest, settings } = placed
  const createdIn = isNew ? run.job : job
  const { metadata } = manifest
  const annotations =
    isEnding(manifest) && createdIn !== undefined ? { ...metadata.annotations, [JOB]: createdIn } : metadata.annotations
  const sent = { ...placed, manifest: { ...manifest, metadata: { ...metadata, ...(annotations && { annotations }) } } }
  return await applyManifest(api, sent, { signal: context.signal, dryRun, force: settings.conflicts !== 'refuse' })
}
