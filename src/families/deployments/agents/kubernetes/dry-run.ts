import { essence, isSecret } from '../../../../agents/kubernetes/changes.ts'
import { fieldsOf, groupOf, type KubernetesObject, type ObjectRef } from '../../../../agents/kubernetes/objects.ts'
import type { PlannedChange, PlannedField } from '../../../../client/index.ts'
import { MASKED } from '../../../../core/dry-run.ts'
import { sameJson } from '../../../../core/json.ts'
import { unifiedDiff } from '../../../../core/unified-diff.ts'
import { writeYaml } from '../../../../manifest/write-yaml.ts'
import { type Applied, MARKS } from './apply.ts'
import { foresee, refuseDrift } from './deploy.ts'
import { union, without } from './inventory.ts'
import { placeAll, type Run, refOf, refuseTwins } from './placed.ts'
import { refuseRules, refuseUnused } from './readiness.ts'
import { NOTHING, pruned } from './remove.ts'
import { wavesOf } from './waves.ts'

/** Foresees the work on an item, by server-side dry runs. Values of Secrets never leave here. */

/** The objects that a deployment would create, change and delete. @throws DeployError where it would fail */
export async function planDeployment(run: Run): Promise<readonly PlannedChange[]> {
  await refuseRules(run)
  const placed = await placeAll(run)
  refuseTwins(placed)
  refuseUnused(run, placed)
  const known = await run.inventory.read()
  if (run.config.drift === 'fail') await refuseDrift(run, placed, known)
  const inOrder = wavesOf(placed).flatMap(({ objects }) => objects)
  const { applied, removed } = await foresee(run, inOrder, without(known, placed.map(refOf)))
  return [...applied.map(describe), ...(await unserved(run)), ...removed.map(deleted)]
}

/** The objects that a deletion of the item would delete. */
export async function planRemoval(run: Run): Promise<readonly PlannedChange[]> {
  const refs = union((await placeAll(run)).map(refOf), await run.inventory.read())
  return (await pruned(run, refs, NOTHING)).map(deleted)
}

const nameOf = ({ apiVersion, kind, namespace, name }: ObjectRef) => ({
  group: groupOf(apiVersion),
  kind,
  namespace,
  name,
})
const deleted = (ref: ObjectRef): PlannedChange => ({ ...nameOf(ref), action: 'DELETE' })

const ACTIONS = {
  created: 'CREATE',
  changed: 'UPDATE',
  recreated: 'RECREATE',
  unchanged: 'UNCHANGED',
  left: 'UNCHANGED',
} as const satisfies Readonly<Record<Applied['action'], PlannedChange['action']>>

function describe({ placed, action, changes, isDrift, before, object }: Applied): PlannedChange {
  return {
    ...nameOf(placed),
    action: ACTIONS[action],
    reason: reasonOf({ action, isDrift, isKnown: object !== null, policy: placed.settings.policy }),
    fields: changes.map(
      ({ path, from, to }): PlannedField => ({
        ...{ path, before: from ?? null, after: to ?? null, masked: isSecret(placed, path) },
      }),
    ),
    diff: action === 'created' || action === 'changed' ? diffOf(before, object ?? placed.manifest) : null,
  }
}

interface Situation extends Pick<Applied, 'action' | 'isDrift'> {
  /** The API server has said what it would be. */
  readonly isKnown: boolean
  readonly policy: string
}

function reasonOf({ action, isDrift, isKnown, policy }: Situation): string | null {
  if (action === 'left') return `Its policy is ${policy}.`
  if (action === 'recreated') return 'It cannot become what it has to be.'
  if (!isKnown)
    return 'The API server cannot say more before its namespace or its kind is there: the manifest is shown.'
  return isDrift ? 'Others have changed it since the last run.' : null
}

/** Objects of kinds that the cluster does not serve, such as those that an operator defines once it runs. */
async function unserved({ config, discovery, namespace }: Run): Promise<readonly PlannedChange[]> {
  const kinds = await Promise.all(config.manifests.map((manifest) => discovery.resourceOf(manifest)))
  return config.manifests
    .filter((_, i) => kinds[i] === null)
    .map((manifest) => {
      const { apiVersion, kind, metadata } = manifest
      const ref = { apiVersion, kind, namespace: metadata.namespace ?? namespace, name: metadata.name }
      const reason = `The cluster has no kind ${kind} of ${apiVersion} yet: the run waits for it.`
      return { ...nameOf(ref), action: 'CREATE', reason, diff: diffOf(null, manifest) }
    })
}

function diffOf(before: KubernetesObject | null, after: KubernetesObject): string {
  const [one, other] = masked(before && essence(before, MARKS), essence(after, MARKS))
  return unifiedDiff(one ? writeYaml(one) : '', writeYaml(other))
}

/** Both with their secret values masked, in a way that shows which of them change. */
function masked(before: object | null, after: object): readonly [object | null, object] {
  const [from, to] = [fieldsOf(before), fieldsOf(after)]
  if (to.kind !== 'Secret') return [before, after]
  const hide = (object: object, own: unknown, other: unknown, changed: string): object => ({
    ...object,
    data: Object.fromEntries(
      Object.entries(fieldsOf(own)).map(([key, value]) => {
        const isChanged = before !== null && key in fieldsOf(other) && !sameJson(value, fieldsOf(other)[key])
        return [key, isChanged ? changed : MASKED]
      }),
    ),
  })
  const { stringData: _plain, ...rest } = to
  return [before && hide(before, from.data, to.data, MASKED), hide(rest, to.data, from.data, `${MASKED} (changed)`)]
}
