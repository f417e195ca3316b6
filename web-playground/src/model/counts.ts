import type { PhaseChange } from 'phaseline/client'
import type { Machines } from 'phaseline/client-model'

/** Number of objects of each kind in each phase. */
export type Counts = ReadonlyMap<string, ReadonlyMap<string, number>>

/** Applies changes to counts that were read before them. */
export function moveCounts(counts: Counts, changes: readonly PhaseChange[], machines: Machines): Counts {
  const moved = new Map([...counts].map(([kind, phases]) => [kind, new Map(phases)]))
  const add = (kind: string, phase: string, by: number): void => {
    const phases = moved.get(kind) ?? new Map<string, number>()
    moved.set(kind, phases)
    phases.set(phase, Math.max(0, (phases.get(phase) ?? 0) + by))
  }
  for (const change of changes) {
    if (!machines.moves(change)) continue
    if (change.from !== null) add(change.kind, change.from, -1)
    if (change.to !== 'GONE') add(change.kind, change.to, 1)
  }
  return moved
}

export const totalOf = (phases: ReadonlyMap<string, number> | undefined): number =>
  [...(phases?.values() ?? [])].reduce((sum, count) => sum + count, 0)
