import fc from 'fast-check'
import { v7 } from 'uuid'
import type { Change, PhaseChangeRecord } from '../../src/core/ports/phase-change.ts'
import type { Phase } from '../../src/core/vocabulary.ts'
import { change } from './writer.ts'

/** A machine whose changes say nothing of an object's phase. */
const SECONDARY = 'upgrade'
export const secondaryMachines: readonly string[] = [SECONDARY]

const PHASES: readonly Phase[] = ['INIT', 'PROGRESSING', 'SUCCEEDED', 'GONE']
const step = fc.record({
  child: fc.nat(3),
  machine: fc.constantFrom('installation', 'installation', SECONDARY),
  to: fc.constantFrom(...PHASES),
  rejected: fc.boolean(),
})

/** Batches of changes of small trees with these roots; `timeOf` gives the n-th change, from 1, its time. */
export function randomBatches(
  rootIds: readonly string[],
  seed: number,
  timeOf: (n: number) => Date,
): readonly (readonly Change[])[] {
  const trees = rootIds.map((rootId) => [rootId, v7(), v7(), v7()])
  let n = 0
  const batches = fc.tuple(fc.nat(rootIds.length - 1), fc.array(step, { maxLength: 6 }))
  return fc.sample(batches, { numRuns: 60, seed }).map(([tree, steps]) =>
    steps.map(({ child, rejected, ...rest }) => {
      const [rootId, objectId] = [rootIds[tree] as string, trees[tree]?.[child] as string]
      const parentId = child === 0 ? null : rootId
      n += 1
      return change(rootId, { objectId, parentId, rejected, at: timeOf(n), revision: rejected ? null : n, ...rest })
    }),
  )
}

/** The objects of a tree at a sequence, by going through the log. */
export function replay(log: readonly PhaseChangeRecord[], rootId: string, sequence: number) {
  const objects = new Map<string, object>()
  for (const record of log) {
    if (record.rootId !== rootId || record.rejected || record.sequence > sequence) continue
    if (record.machine === SECONDARY) continue
    const { objectId, parentId, kind, name, to, at, revision } = record
    if (to === 'GONE') objects.delete(objectId)
    else objects.set(objectId, { objectId, parentId, kind, name, phase: to, phaseSince: at, revision })
  }
  return [...objects.keys()].toSorted().map((id) => objects.get(id))
}
