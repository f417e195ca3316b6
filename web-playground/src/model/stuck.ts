/** Objects that wait for something that their own tree does not provide. */
export interface Waiting {
  readonly id: string
  readonly phaseSince: string
  readonly parent: { readonly id: string } | null
  readonly blockedBy: readonly {
    readonly reason: string
    readonly message: string
    readonly connected?: boolean | undefined
  }[]
}

/** Reasons that end by themselves as the tree goes on. */
const PATIENT = new Set(['DEPENDENCY', 'CHILDREN', 'PARENT'])

/**
 * Objects with another reason, the longest wait first, each with its first one: the root cause. An object that only
 * waits because an object below it waits for the same is left out.
 */
export function stuckOf<T extends Waiting>(
  objects: readonly T[],
): readonly { readonly object: T; readonly blocker: T['blockedBy'][number] }[] {
  const all = objects.flatMap((object) => {
    // A connected agent claims the work in a moment.
    const blocker = object.blockedBy.find(({ reason, connected }) => !PATIENT.has(reason) && connected !== true)
    return blocker ? [{ object, blocker }] : []
  })
  const above = new Set(all.map(({ object, blocker }) => `${object.parent?.id} ${blocker.message}`))
  return all
    .filter(({ object, blocker }) => !above.has(`${object.id} ${blocker.message}`))
    .toSorted((a, b) => a.object.phaseSince.localeCompare(b.object.phaseSince))
}
