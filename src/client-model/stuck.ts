/** Objects that wait for something that no tree provides by itself. */
export interface Waiting {
  readonly id: string
  readonly phaseSince: string
  readonly parent: { readonly id: string } | null
  readonly blockedBy: readonly {
    readonly reason: string
    readonly message: string
    readonly connected?: boolean | undefined
    /** The object that has it itself, if it is another one. */
    readonly source?: { readonly id: string } | null | undefined
    /** A decision's object, and the verbs that make it. */
    readonly object?: { readonly id: string } | null | undefined
    readonly verbs?: readonly { readonly label: string }[] | undefined
  }[]
}

/** Reasons that end by themselves as trees progress. The holder of a lock is listed itself if it needs somebody. */
const PATIENT = new Set(['DEPENDENCY', 'CHILDREN', 'PARENT', 'REQUEST', 'NOT_IN_JOB', 'LOCK'])
/** True for a blocker of a healthy tree, in which objects wait for each other. A connected agent claims the work in a moment. */
export const isOrdinary = ({
  reason,
  connected,
}: Pick<Waiting['blockedBy'][number], 'reason' | 'connected'>): boolean => PATIENT.has(reason) || connected === true

/**
 * Objects with another reason, each with its first one: the root cause. Decisions of people come first, then the
 * longest waits. An object that only waits for the cause of another one in the list is left out.
 * @param undecided objects about which a person must decide, which may be among the others
 */
export function stuckOf<T extends Waiting>(
  objects: readonly T[],
  undecided: readonly T[] = [],
): readonly { readonly object: T; readonly blocker: T['blockedBy'][number] }[] {
  const listed = new Map([...undecided, ...objects].map((object) => [object.id, object]))
  const all = [...listed.values()].flatMap((object) => {
    const blocker = object.blockedBy.find((one) => !isOrdinary(one))
    return blocker ? [{ object, blocker }] : []
  })
  const above = new Set(all.map(({ object, blocker }) => `${object.parent?.id} ${blocker.message}`))
  const isListed = ({ reason, object: about, source }: T['blockedBy'][number], { id }: T): boolean =>
    (reason === 'DECISION' && about != null && about.id !== id && listed.has(about.id)) ||
    (source != null && listed.has(source.id))
  return all
    .filter(({ object, blocker }) => !above.has(`${object.id} ${blocker.message}`) && !isListed(blocker, object))
    .toSorted((a, b) => rank(a.blocker) - rank(b.blocker) || a.object.phaseSince.localeCompare(b.object.phaseSince))
}
const rank = ({ reason }: { readonly reason: string }): number => (reason === 'DECISION' ? 0 : 1)

/** The caption of a list of stuck objects, by the number of unfinished ones that were read. */
export function stuckAmong(read: number, total: number): { readonly isPart: boolean; readonly none: string } {
  if (total <= read) return { isPart: false, none: 'Nothing is stuck.' }
  const [first, all] = [read, total].map((count) => count.toLocaleString('en'))
  return { isPart: true, none: `Nothing is stuck among the first ${first} of ${all} unfinished objects.` }
}
