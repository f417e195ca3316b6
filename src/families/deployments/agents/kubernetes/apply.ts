import { isStatus } from '../../../../agents/kubernetes/api.ts'
import { pause } from '../../../../client/pause.ts'
import { DeployError } from '../deploy-error.ts'
import { type Change, changesBetween } from './changes.ts'
import { APPLIED, type KubernetesObject, MANAGER, ownerOf } from './objects.ts'
import type { Placed, Run } from './placed.ts'
import { isRace, refusedBy } from './refusals.ts'

/** What the application of one manifest does, or would do. */
export interface Applied {
  readonly placed: Placed
  readonly action: 'created' | 'changed' | 'unchanged'
  readonly changes: readonly Change[]
  /** The manifest is the one that was applied last: others have made the changes. */
  readonly isDrift: boolean
}

const RACES = 5
const RACE_MS = 200
/** How long after a definition its kind may still be unknown. */
const DEFINED_MS = 10_000

/** What is there. @throws DeployError when it must not be touched */
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
  const changes = after ? changesBetween(before, after) : []
  const { annotations } = before.metadata
  const isSame = annotations?.[APPLIED] === placed.manifest.metadata.annotations?.[APPLIED]
  const action = changes.length > 0 ? 'changed' : 'unchanged'
  return { placed, action, changes, isDrift: isSame && changes.length > 0 }
}

/** Null: it cannot be said without the namespace or the definition, which would be created before. */
async function send({ api, config, context }: Run, placed: Placed, dryRun: boolean): Promise<KubernetesObject | null> {
  const query = {
    fieldManager: MANAGER,
    force: String(config.conflicts !== 'refuse'),
    fieldValidation: 'Strict',
    dryRun: dryRun ? 'All' : undefined,
  }
  const since = performance.now()
  for (let races = 0; ; races += 1) {
    try {
      return await api.apply<KubernetesObject>(placed.path, placed.manifest, query)
    } catch (error) {
      context.signal.throwIfAborted()
      if (dryRun && isStatus(error, 404)) return null
      const isYoung = placed.isDefined && isStatus(error, 404) && performance.now() - since < DEFINED_MS
      if (!isYoung && !(isRace(error) && races < RACES)) throw refusedBy(error, placed)
      await pause(RACE_MS, context.signal)
    }
  }
}
