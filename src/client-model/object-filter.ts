import type { Machines } from './machines.ts'

interface Label {
  readonly key: string
  readonly value: string
}
/** The fields of `ObjectFilter` by which clients select lists. Null, or left out: any. */
export interface ObjectSelection {
  readonly project?: string | null
  readonly kinds?: readonly string[] | null
  readonly phases?: readonly string[] | null
  readonly labels?: readonly Label[] | null
  readonly nameContains?: string | null
  readonly finished?: boolean | null
  readonly rootsOnly?: boolean | null
}
/** An object as a filter judges it, as far as it is known. */
export interface Judged {
  readonly project: string
  readonly kind: string
  readonly name: string
  readonly isRoot: boolean
  readonly phase?: string
  readonly finished?: boolean
  readonly labels?: readonly Label[]
}
interface Change {
  readonly objectId: string
  readonly rootId: string
  readonly projectName: string
  readonly kind: string
  readonly name: string
  readonly to: string
}

/** The server's rule. The unknown matches. */
export function matchesFilter(filter: ObjectSelection, { labels, phase, finished, ...object }: Judged): boolean {
  const { project, kinds, phases, nameContains, rootsOnly } = filter
  return (
    (project ?? object.project) === object.project &&
    (kinds?.includes(object.kind) ?? true) &&
    (phase === undefined || (phases?.includes(phase) ?? true)) &&
    object.name.toLowerCase().includes((nameContains ?? '').toLowerCase()) &&
    (finished === undefined || (filter.finished ?? finished) === finished) &&
    (!rootsOnly || object.isRoot) &&
    (labels === undefined || lastOfEach(filter.labels ?? []).every((pair) => labels.some(isSame(pair))))
  )
}

const isSame = (pair: Label) => (other: Label) => other.key === pair.key && other.value === pair.value
/** The last one of equal keys counts. */
const lastOfEach = (pairs: readonly Label[]): readonly Label[] => [
  ...new Map(pairs.map((pair) => [pair.key, pair])).values(),
]

/** Its place and its name, which no change of an object alters. */
export const placeOf = ({ objectId, rootId, projectName, kind, name }: Change): Judged => ({
  ...{ project: projectName, kind, name, isRoot: objectId === rootId },
})
/** The object right after a change, which does not have its labels. */
export const afterChange = (change: Change, machines: Machines): Judged => ({
  ...placeOf(change),
  ...{ phase: change.to, finished: machines.isFinal(change.kind, change.to) },
})
