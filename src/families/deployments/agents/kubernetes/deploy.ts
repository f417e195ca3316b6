import { describeChange } from '../../../../agents/kubernetes/changes.ts'
import { inBatches } from '../../../../agents/kubernetes/in-batches.ts'
import { type KubernetesObject, keyOf, type ObjectRef, titleOf } from '../../../../agents/kubernetes/objects.ts'
import { DeployError } from '../deploy-error.ts'
import { type Applied, applyOne, requireOwned } from './apply.ts'
import { exportsOf, hasExports, readExports } from './exports.ts'
import { union, without } from './inventory.ts'
import { type Placed, placeAll, type Run, refOf, refuseTwins, untilServed } from './placed.ts'
import { refuseRules, refuseUnused } from './readiness.ts'
import { prune, pruned } from './remove.ts'
import { stagesOf } from './stages.ts'
import { untilCurrent } from './wait.ts'
import { peersOf, wavesOf } from './waves.ts'

type Exports = Readonly<Record<string, unknown>>

/**
 * Applies all manifests, waits until they are what they say, and removes what they no longer have. May be broken off and done
 * again at any point. Returns the exports. @throws DeployError
 */
export async function deploy(run: Run): Promise<Exports> {
  await refuseRules(run)
  await untilServed(run)
  const placed = await placeAll(run)
  refuseTwins(placed)
  refuseUnused(run, placed)
  const exports = exportsOf(run, placed)
  const known = await run.inventory.read()
  const wanted = placed.map(refOf)
  if (run.config.dryRun) return await preview(run, placed, without(known, wanted))
  // All refusals that can be foreseen come before the first change.
  await inBatches(placed, (one) => requireOwned(run, one))
  if (run.config.drift === 'fail') await refuseDrift(run, placed, known)
  await run.inventory.write(union(known, wanted))
  const applied = await applyAll(run, placed, known)
  const current = await untilCurrent(run, placed, { judge: hasExports(exports), applied })
  const stays = await prune(run, without(known, wanted), { refs: wanted, objects: [...current.values()] })
  await run.inventory.write(union(stays, wanted))
  return readExports(exports, current)
}

/** Returns the objects as the API server has answered. */
async function applyAll(
  run: Run,
  placed: readonly Placed[],
  known: readonly ObjectRef[],
): Promise<ReadonlyMap<Placed, KubernetesObject>> {
  const { signal, log, report } = run.context
  const before = new Set(known.map(keyOf))
  const answers = new Map<Placed, KubernetesObject>()
  const apply = async (one: Placed): Promise<Applied> => {
    signal.throwIfAborted()
    report({
      progress: { step: `Applying ${one.title}`, value: answers.size, total: placed.length, unit: 'objects' },
    })
    const applied = await applyOne(run, one, { dryRun: false })
    if (applied.object) answers.set(one, applied.object)
    return applied
  }
  const onApplied = (applied: Applied): void => {
    for (const line of describe(applied, before.has(keyOf(applied.placed)))) log('STEP', line)
  }
  const applyEach = async (objects: readonly Placed[]): Promise<void> => {
    for (const peers of peersOf(objects)) await inBatches(peers, apply, onApplied)
  }
  const waves = wavesOf(placed)
  for (const { objects } of waves.filter(({ isFoundation }) => isFoundation)) {
    await applyEach(objects)
    await untilCurrent(run, objects, { applied: answers })
  }
  const stages = stagesOf(waves.flatMap(({ objects, isFoundation }) => (isFoundation ? [] : objects)))
  for (const [i, objects] of stages.entries()) {
    await applyEach(objects)
    if (i < stages.length - 1) await untilCurrent(run, objects, { applied: answers })
  }
  return answers
}

/** Describes the change of one object, made or planned. */
function describe({ placed, action, changes, isDrift }: Applied, wasThere: boolean): readonly string[] {
  const { title } = placed
  if (action === 'created') return [wasThere ? `${title} was gone: it is created again` : `${title} is created`]
  if (action === 'recreated') return [`${title} cannot become what it has to be: it is deleted and created anew`]
  if (action === 'unchanged') return [`${title} is unchanged`]
  if (action === 'left') return [`${title} is there, and stays as it is: its policy is ${placed.settings.policy}`]
  const what = isDrift ? 'has drifted, and is mended' : 'is changed'
  return [`${title} ${what}`, ...changes.map((change) => `  ${describeChange(change)}`)]
}

export interface Foreseen {
  readonly applied: readonly Applied[]
  readonly removed: readonly ObjectRef[]
}

/** The cluster's own answer to what would be applied, and what would go of `others`. Nothing is changed. @throws DeployError */
export async function foresee(run: Run, placed: readonly Placed[], others: readonly ObjectRef[]): Promise<Foreseen> {
  const applied: Applied[] = []
  for (const one of placed) {
    run.context.signal.throwIfAborted()
    applied.push(await applyOne(run, one, { dryRun: true }))
  }
  const objects = applied.flatMap(({ before }) => before ?? [])
  return { applied, removed: await pruned(run, others, { refs: placed, objects }) }
}

async function preview(run: Run, placed: readonly Placed[], others: readonly ObjectRef[]): Promise<Exports> {
  const { applied, removed } = await foresee(run, placed, others)
  for (const one of applied) for (const line of describe(one, false)) run.context.log('STEP', `Dry run: ${line}`)
  const changed = applied.filter(({ action }) => action !== 'unchanged' && action !== 'left')
  return {
    changes: [
      ...changed.map(({ placed: { title }, action, changes }) => ({
        ...{ object: title, action, fields: changes.map(describeChange) },
      })),
      ...removed.map((ref) => ({ object: titleOf(ref), action: 'deleted', fields: [] })),
    ],
  }
}

/** @throws DeployError when others have changed or deleted what was applied */
export async function refuseDrift(run: Run, placed: readonly Placed[], known: readonly ObjectRef[]): Promise<void> {
  const before = new Set(known.map(keyOf))
  const found = await inBatches(placed, async (one) => {
    const { action, changes, isDrift } = await applyOne(run, one, { dryRun: true })
    if (action === 'created') return before.has(keyOf(one)) ? [`${one.title} is gone`] : []
    return isDrift ? changes.map((change) => `${one.title}: ${describeChange(change)}`) : []
  })
  const drifts = found.flat()
  if (drifts.length > 0) throw new DeployError('KUBERNETES_DRIFTED', drifts.join('\n'))
}
