import type { PhaseChange } from 'phaseline/client'
import type { Machines } from './machines.ts'

/** Failures for a person to resolve, each cause once. */

/** Things that say the same: the first one, and how many more do. */
export interface Group<T> {
  readonly first: T
  readonly more: number
}

/** In the order of the first of each. */
export function grouped<T>(things: readonly T[], sayingOf: (thing: T) => string): readonly Group<T>[] {
  const groups = new Map<string, { readonly first: T; more: number }>()
  for (const thing of things) {
    const saying = sayingOf(thing)
    const group = groups.get(saying)
    if (group) group.more += 1
    else groups.set(saying, { first: thing, more: 0 })
  }
  return [...groups.values()]
}

/**
 * The failed phases that objects leave by themselves, with their kinds: what failed is undone, and with a creation the object
 * goes. One that only a person ends is not among them.
 */
export function passingFailures(
  machines: Machines,
  classOf: (phase: string) => string,
): { readonly kinds: readonly string[]; readonly to: readonly string[] } {
  const found = machines.all.flatMap(({ phases, final, transitions, kinds }) =>
    phases
      .filter((phase) => classOf(phase) === 'failed' && !final.includes(phase))
      .filter((phase) => transitions.some(({ from, actor }) => from === phase && actor !== 'USER'))
      .map((phase) => ({ kinds, phase })),
  )
  return {
    kinds: [...new Set(found.flatMap(({ kinds }) => kinds))],
    to: [...new Set(found.map(({ phase }) => phase))],
  }
}

/** The last failure of each object, among changes to such phases, the newest first; `seen`: a person knows of those up to it. */
export function undoneFailures(
  changes: readonly PhaseChange[],
  machines: Machines,
  seen: number,
): readonly PhaseChange[] {
  const last = new Map<string, PhaseChange>()
  for (const change of changes) {
    const machine = machines.all.find(({ name }) => name === change.machine)
    // Another machine may have the phase for good.
    if (change.sequence <= seen || change.rejected || change.revision === 0 || machine?.final.includes(change.to))
      continue
    last.set(change.objectId, change)
  }
  return [...last.values()].sort((a, b) => b.sequence - a.sequence)
}

interface Unfinished {
  readonly id: string
  readonly parent: { readonly id: string } | null
  readonly root: { readonly id: string }
  readonly blockedBy: readonly { readonly connected?: boolean | undefined }[]
}

/**
 * Roots of trees in which nothing runs: each unfinished object without an unfinished one below it waits.
 * @param unfinished with their blockers; a tree that is not among them is not judged
 */
export function restingRoots(unfinished: readonly Unfinished[]): ReadonlySet<string> {
  const parents = new Set(unfinished.map(({ parent }) => parent?.id))
  const leaves = unfinished.filter(({ id }) => !parents.has(id))
  const moving = new Set(leaves.filter((leaf) => !waits(leaf)).map(({ root }) => root.id))
  return new Set(leaves.map(({ root }) => root.id).filter((id) => !moving.has(id)))
}

/** A connected agent claims the work in a moment. */
const waits = ({ blockedBy }: Unfinished): boolean =>
  blockedBy.length > 0 && blockedBy.every(({ connected }) => connected !== true)
