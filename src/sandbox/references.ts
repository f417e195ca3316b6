/** The context of expressions: a spec of installations, a task, an object of a cluster that is waited for, a schedule, a delivery, a notification, or an answer. */
export type ExpressionsOf = 'installation' | 'task' | 'object' | 'schedule' | 'delivery' | 'notification' | 'answer'

interface Roots {
  /** Names that expressions may use. */
  readonly known: readonly string[]
  /** Roots whose members imply a dependency, so the member must be known before the run. */
  readonly named: readonly string[]
}
const ROOTS: Readonly<Record<ExpressionsOf, Roots>> = {
  installation: { known: ['imports', 'deployItems', 'installations', 'each'], named: ['deployItems', 'installations'] },
  task: { known: ['jobs'], named: ['jobs'] },
  object: { known: ['object'], named: [] },
  schedule: { known: ['schedule'], named: [] },
  delivery: { known: ['headers', 'body'], named: [] },
  notification: { known: ['rule', 'change'], named: [] },
  answer: { known: ['status', 'headers', 'body'], named: [] },
}

/** Checks the references of an expression; null when they are valid. */
export function referenceProblem(references: readonly (readonly string[])[], of: ExpressionsOf): string | null {
  const { known, named } = ROOTS[of]
  for (const [root = '', name] of references) {
    if (!known.includes(root)) return `${root} is not known: an expression may speak of ${known.join(', ')}`
    if (named.includes(root) && name === undefined) {
      return `${root} must be followed by a constant name, as in ${root}.name or ${root}["name"], because it implies a dependency`
    }
  }
  return null
}
