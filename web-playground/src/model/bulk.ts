import { type Actable, actionsFor } from './actions.ts'
import { humanKind, verbsOf } from './known.ts'
import { plural } from './words.ts'

/** Verbs of many objects at once. */
export type Verb = 'cancel' | 'delete' | 'pause' | 'resume'

export interface Target extends Actable {
  readonly name: string
  readonly root: { readonly id: string }
  readonly project: { readonly name: string }
}
export interface LeftOut {
  readonly reason: string
  readonly names: readonly string[]
}
export interface BulkPlan {
  readonly verb: Verb
  readonly targets: readonly Target[]
  readonly leftOut: readonly LeftOut[]
  /** Number of objects that no longer exist. */
  readonly gone: number
}

/** The objects that a verb applies to, and those that it does not, with the reason. */
export function planBulk(verb: Verb, targets: readonly Target[], gone: number): BulkPlan {
  const isPossible = (target: Target) => target.kind !== BULK && actionsFor(target).some(({ name }) => name === verb)
  const possible = new Set(targets.filter(isPossible).map(({ id }) => id))
  const chosen: Target[] = []
  const leftOut = new Map<string, string[]>()
  for (const target of targets) {
    const goes = above(verb, target).some((id) => possible.has(id))
    if (possible.has(target.id) && !goes) {
      chosen.push(target)
      continue
    }
    const reason = goes ? GOES_ALONG : whyNot(verb, target)
    const names = leftOut.get(reason) ?? []
    names.push(target.name)
    leftOut.set(reason, names)
  }
  return { verb, targets: chosen, leftOut: [...leftOut].map(([reason, names]) => ({ reason, names })), gone }
}

/** Objects whose action includes this one: a request of its own would be refused. */
const above = (verb: Verb, { id, root, parent }: Target): readonly string[] => [
  ...(root.id === id ? [] : [root.id]),
  ...(verb === 'delete' && parent ? [parent.id] : []),
]
const BULK = 'BULK_OPERATION'
const GOES_ALONG = 'in something that is selected too: they go with it'

function whyNot(verb: Verb, { kind, parent, finished, verbs }: Target): string {
  if (kind === BULK) return `a bulk operation: ${verb} it on its own page`
  if (verb === 'cancel' && finished) return 'finished already'
  const known = verbsOf(kind).find(({ name }) => name === verb)
  const judged = verbs.find(({ name }) => name === verb)
  // An object without the verb is only affected through its parent.
  if (parent && (!judged || judged.obstacle === 'NOT_ROOT')) return `not a root: ${verb} its root instead`
  if (judged?.obstacle === 'DELETION') return 'being deleted already'
  if (judged?.obstacle === 'RIGHT') return `not yours to ${verb}: ${judged.why}`
  if (known?.otherwise && judged?.obstacle === 'PHASE') return known.otherwise
  return `cannot be ${DONE_WORDS[verb]} as they stand`
}

/** e.g. `2 installations, 1 task`, the largest number first. */
export function countedKinds(targets: readonly { readonly kind: string }[]): string {
  const counts = new Map<string, number>()
  for (const { kind } of targets) counts.set(kind, (counts.get(kind) ?? 0) + 1)
  return [...counts]
    .toSorted(([, a], [, b]) => b - a)
    .map(([kind, count]) => plural(count, humanKind(kind).toLowerCase()))
    .join(', ')
}

/** e.g. `a, b, c and 4 more`. */
export function firstNames(names: readonly string[], shown = 5): string {
  const first = names.slice(0, shown).join(', ')
  const more = names.length - shown
  return more > 0 ? `${first} and ${more.toLocaleString('en')} more` : first
}

export const DONE_WORDS: Readonly<Record<Verb, string>> = {
  cancel: 'cancelled',
  delete: 'deleted',
  pause: 'paused',
  resume: 'resumed',
}

/** A bulk operation of one project: its objects, and the flags that were confirmed. */
export interface BulkRequest {
  readonly project: string
  readonly ids: readonly string[]
  readonly flags: readonly string[]
}
export function requestsOf({ verb, targets }: BulkPlan): readonly BulkRequest[] {
  const byProject = Map.groupBy(targets, ({ project }) => project.name)
  return [...byProject].map(([project, all]) => {
    const known = [...new Set(all.map(({ kind }) => kind))].flatMap(verbsOf).filter(({ name }) => name === verb)
    const flags = known.flatMap((one) => one.flags.filter(({ confirmed }) => confirmed).map(({ name }) => name))
    return { project, ids: all.map(({ id }) => id), flags: [...new Set(flags)] }
  })
}
