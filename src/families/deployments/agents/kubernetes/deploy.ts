import { describeChange } from '../../../../agents/kubernetes/changes.ts'
import { inBatches } from '../../../../agents/kubernetes/in-batches.ts'
import { keyOf, type ObjectRef, titleOf } from '../../../../agents/kubernetes/objects.ts'
import { DeployError } from '../deploy-error.ts'
import { type Applied, applyOne, lookAt } from './apply.ts'
import { exportsOf, hasExports, readExports } from './exports.ts'
import { union, without } from './inventory.ts'
import { type Placed, placeAll, type Run, refOf, refuseTwins } from './placed.ts'
import { prune, pruned } from './remove.ts'
import { untilCurrent } from './wait.ts'
import { wavesOf } from './waves.ts'

type Exports = Readonly<Record<string, unknown>>

/**
 * Applies all manifests, waits until they are what they say, and removes what they no longer have. May be broken off and done
 * again at any point. Returns the exports. @throws DeployError
 */
export async function deploy(run: Run): Promise<Exports> {
  const placed = await placeAll(run)
  refuseTwins(placed)
  const exports = exportsOf(run, placed)
  const known = await run.inventory.read()
  const wanted = placed.map(refOf)
  if (run.config.dryRun) return await preview(run, placed, without(known, wanted))
  // All refusals that can be foreseen come before the first change.
  await inBatches(placed, (one) => lookAt(run, one))
  if (run.config.drift === 'fail') await refuseDrift(run, placed, known)
  await run.inventory.write(union(known, wanted))
  await applyAll(run, placed, known)
  const current = await untilCurrent(run, placed, hasExports(exports))
  const stays = await prune(run, without(known, wanted), { refs: wanted, objects: [...current.values()] })
  await run.inventory.write(union(stays, wanted))
  return readExports(exports, current)
}

async function applyAll(run: Run, placed: readonly Placed[], known: readonly ObjectRef[]): Promise<void> {
  const { signal, log, report } = run.context
  const before = new Set(known.map(keyOf))
  let done = 0
  for (const { objects, isFoundation } of wavesOf(placed)) {
    for (const one of objects) {
      signal.throwIfAborted()
      report({ progress: { step: `Applying ${one.title}`, value: done, total: placed.length, unit: 'objects' } })
      const applied = await applyOne(run, one, { dryRun: false })
      for (const line of describe(applied, before.has(keyOf(one)))) log('STEP', line)
      done += 1
    }
    if (isFoundation) await untilCurrent(run, objects)
  }
}

/** Describes the change of one object, made or planned. */
function describe({ placed, action, changes, isDrift }: Applied, wasThere: boolean): readonly string[] {
  const { title } = placed
  if (action === 'created') return [wasThere ? `${title} was gone: it is created again` : `${title} is created`]
  if (action === 'unchanged') return [`${title} is unchanged`]
  const what = isDrift ? 'has drifted, and is mended' : 'is changed'
  return [`${title} ${what}`, ...changes.map((change) => `  ${describeChange(change)}`)]
}

/** The cluster's own answer to what would be applied. Nothing is changed. */
async function preview(run: Run, placed: readonly Placed[], removed: readonly ObjectRef[]): Promise<Exports> {
  const changes = []
  for (const one of placed) {
    run.context.signal.throwIfAborted()
    const applied = await applyOne(run, one, { dryRun: true })
    for (const line of describe(applied, false)) run.context.log('STEP', `Dry run: ${line}`)
    const fields = applied.changes.map(describeChange)
    if (applied.action !== 'unchanged') changes.push({ object: one.title, action: applied.action, fields })
  }
  const there = (await inBatches(placed, (one) => lookAt(run, one))).flatMap((object) => object ?? [])
  for (const ref of await pruned(run, removed, { refs: placed, objects: there }))
    changes.push({ object: titleOf(ref), action: 'deleted', fields: [] })
  return { changes }
}

/** @throws DeployError when others have changed or deleted what was applied */
async function refuseDrift(run: Run, placed: readonly Placed[], known: readonly ObjectRef[]): Promise<void> {
  const before = new Set(known.map(keyOf))
  const found = await inBatches(placed, async (one) => {
    const { action, changes, isDrift } = await applyOne(run, one, { dryRun: true })
    if (action === 'created') return before.has(keyOf(one)) ? [`${one.title} is gone`] : []
    return isDrift ? changes.map((change) => `${one.title}: ${describeChange(change)}`) : []
  })
  const drifts = found.flat()
  if (drifts.length > 0) throw new DeployError('KUBERNETES_DRIFTED', drifts.join('\n'))
}
