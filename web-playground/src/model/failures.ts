import type { PhaseChange } from 'phaseline/client'
import type { Machines } from 'phaseline/client-model'

/** Failures for a person to resolve, each cause once. */

/** The last failure of each object, among changes to phases of `undoneFailures`, the newest first; `seen`: a person knows of those up to that time. */
export function lastFailures(
  changes: readonly PhaseChange[],
  machines: Machines,
  seen: number,
): readonly PhaseChange[] {
  const last = new Map<string, PhaseChange>()
  for (const change of changes) {
    const machine = machines.all.find(({ name }) => name === change.machine)
    // Another machine may have the phase for good.
    if (Date.parse(change.at) <= seen || change.rejected || change.revision === 0 || machine?.final.includes(change.to))
      continue
    last.set(change.objectId, change)
  }
  return [...last.values()].sort((a, b) => b.sequence - a.sequence)
}

interface Failure {
  readonly id: string
  readonly phaseSince: string
}
/**
 * Failures after a time up to which a person knows them, and the others. Undecided objects are neither: they are listed
 * as decisions.
 */
export function partitionFailures<T extends Failure>(
  failed: readonly T[],
  undecided: readonly { readonly id: string }[],
  seen: number,
): { readonly fresh: readonly T[]; readonly known: readonly T[] } {
  const ids = new Set(undecided.map(({ id }) => id))
  const listed = Object.groupBy(
    failed.filter(({ id }) => !ids.has(id)),
    ({ phaseSince }) => (Date.parse(phaseSince) > seen ? 'fresh' : 'known'),
  )
  return { fresh: listed.fresh ?? [], known: listed.known ?? [] }
}

interface Unfinished {
  readonly id: string
  readonly parent: { readonly id: string } | null
  readonly root: { readonly id: string }
  readonly blockedBy: readonly { readonly connected?: boolean | undefined }[]
}

interface Counted {
  readonly id: string
  readonly treeCounts: { readonly all: number; readonly finished: number }
}

/**
 * Trees in which something runs, or may run: in the others each unfinished object without an unfinished one below it waits.
 * @param unfinished the objects that were read, with their blockers; a tree with more of them is not judged
 */
export function movingTrees<T extends Counted>(roots: readonly T[], unfinished: readonly Unfinished[]): readonly T[] {
  const parents = new Set(unfinished.map(({ parent }) => parent?.id))
  const ofTree = Map.groupBy(unfinished, ({ root }) => root.id)
  return roots.filter(({ id, treeCounts: { all, finished } }) => {
    const read = ofTree.get(id) ?? []
    return read.length < all - finished || read.some((one) => !parents.has(one.id) && !waits(one))
  })
}

/** A connected agent claims the work in a moment. */
const waits = ({ blockedBy }: Unfinished): boolean =>
  blockedBy.length > 0 && blockedBy.every(({ connected }) => connected !== true)
