import { applyManifest } from '../../../../agents/kubernetes/apply.ts'
import { type Change, changesBetween } from '../../../../agents/kubernetes/changes.ts'
import type { KubernetesObject } from '../../../../agents/kubernetes/objects.ts'
import { DeployError } from '../deploy-error.ts'
import { APPLIED, ITEM, ownerOf } from './marks.ts'
import type { Placed, Run } from './placed.ts'
import { refusedBy } from './refusals.ts'

/** The result of applying one manifest, or of a dry run. */
export interface Applied {
  readonly placed: Placed
  readonly action: 'created' | 'changed' | 'unchanged'
  readonly changes: readonly Change[]
  /** The manifest is the one that was applied last: others have made the changes. */
  readonly isDrift: boolean
}

/**
 * The present object.
 * @throws DeployError when it must not be touched
 */
export async function lookAt({ api, item, config }: Run, { path, title }: Placed): Promise<KubernetesObject | null> {
  const found = await api.find<KubernetesObject>(path)
  if (!found) return null
  const owner = ownerOf(found)
  if (owner === item || (owner === undefined && config.adopt === true)) return found
  const reason =
    owner === undefined
      ? 'exists and belongs to no item: `adopt: true` takes it over'
      : `belongs to another item, ${owner}: remove it there first`
  throw new DeployError('KUBERNETES_NOT_OWNED', `${title} ${reason}.`)
}

/** Applies a manifest, or with `dryRun` asks the API server what it would do. @throws DeployError */
export async function applyOne(run: Run, placed: Placed, { dryRun }: { readonly dryRun: boolean }): Promise<Applied> {
  const before = await lookAt(run, placed)
  const after = await send(run, placed, dryRun)
  if (!before) return { placed, action: 'created', changes: [], isDrift: false }
  const changes = after ? changesBetween(before, after, [ITEM, APPLIED]) : []
  const { annotations } = before.metadata
  const isSame = annotations?.[APPLIED] === placed.manifest.metadata.annotations?.[APPLIED]
  const action = changes.length > 0 ? 'changed' : 'unchanged'
  return { placed, action, changes, isDrift: isSame && changes.length > 0 }
}

/** Null: it cannot be said without the namespace or the definition, which would be created before. */
async function send({ api, config, context }: Run, placed: Placed, dryRun: boolean): Promise<KubernetesObject | null> {
  const { signal } = context
  try {
    return await applyManifest(api, placed, { signal, dryRun, force: config.conflicts !== 'refuse' })
  } catch (error) {
    signal.throwIfAborted()
    throw refusedBy(error, placed)
  }
}
