/** What waits for something that its own tree will not bring by itself. */
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

/** These end by themselves, as the tree goes on. */
const PATIENT = new Set(['DEPENDENCY', 'CHILDREN', 'PARENT'])

/**
 * Those with such a reason, longest first, each with the first of them: the root cause. What only waits because
 * something below it waits for the same is left out.
 */
export function stuckOf<T extends Waiting>(
  objects: readonly T[],
): readonly { readonly object: T; readonly blocker: T['blockedBy'][number] }[] {
  const all = objects.flatMap((object) => {
    // An agent that is there will take it in a moment.
    const blocker = object.blockedBy.find(({ reason, connected }) => !PATIENT.has(reason) && connected !== true)
    return blocker ? [{ object, blocker }] : []
  })
  const above = new Set(all.map(({ object, blocker }) => `${object.parent?.id} ${blocker.message}`))
  return all
    .filter(({ object, blocker }) => !above.has(`${object.id} ${blocker.message}`))
    .toSorted((a, b) => a.object.phaseSince.localeCompare(b.object.phaseSince))
}
