import { classOf, type Verb, verbsOf } from './known.ts'

/** An action of a viewer on an object: its button, and its mutation. */
export interface Action {
  readonly name: string
  readonly label: string
  /** The question before the action; null when it is harmless. `{name}` is the object's name. */
  readonly confirm: string | null
  /** The effect on the object now; null: the label says it. */
  readonly effect: string | null
  readonly danger: boolean
  readonly field: string
  readonly input: string
  readonly variables: Readonly<Record<string, unknown>>
}

/** A verb of an object, as the server judges it for this viewer. */
export interface JudgedVerb {
  readonly name: string
  readonly allowed: boolean
  readonly obstacle: string | null
  readonly why: string | null
  /** Left out: not asked for. */
  readonly effect?: string | null
}

export interface Actable {
  readonly id: string
  readonly kind: string
  readonly phase: string
  readonly finished: boolean
  readonly parent: { readonly id: string } | null
  readonly deletionRequestedAt: string | null
  readonly verbs: readonly JudgedVerb[]
}

/** Actions that the server allows this viewer on the object now. */
export const actionsFor = (object: Actable): readonly Action[] =>
  object.verbs
    .filter(({ allowed }) => allowed)
    .flatMap((verb) => knownVerb(object, verb).map((known) => actionOf(known, object, verb.effect)))

/** The root's actions for a failed object in its tree: the root retries a failure as a whole. */
export const retriesFor = (object: Actable, root: Actable): readonly Action[] =>
  object.id === root.id || !['FAILED', 'STOPPED'].includes(classOf(object.phase))
    ? []
    : actionsFor(root).filter(({ name }) => name === RETRY)
const RETRY = 'retry'

/** A job of a task that has ended runs alone again, whatever became of it: its task runs again with this job only. */
export const rerunsFor = (job: Actable & { readonly name: string }, task: Actable): readonly Action[] =>
  actionsFor(task)
    .filter(({ name }) => name === 'rerun')
    .map((rerun) => ({
      ...rerun,
      name: 'rerunJob',
      label: 'Run this job again',
      variables: { ...rerun.variables, jobs: [job.name] },
    }))

/** Actions of the object's present phase that an obstacle prevents. Actions of other phases would mislead. */
export interface Refused {
  readonly labels: readonly string[]
  readonly obstacle: string
  readonly why: string
}
export function refusedFor(object: Actable): readonly Refused[] {
  const byReason = new Map<string, { readonly obstacle: string; readonly labels: string[] }>()
  for (const verb of object.verbs) {
    if (verb.why === null || verb.obstacle === null || verb.obstacle === 'PHASE') continue
    const labels = byReason.get(verb.why)?.labels ?? []
    byReason.set(verb.why, { obstacle: verb.obstacle, labels })
    labels.push(...knownVerb(object, verb).map(({ label }) => label))
  }
  return [...byReason].map(([why, { obstacle, labels }]) => ({ labels, obstacle, why }))
}

/** True if the viewer's rights allow it to change anything about the object, now or in another phase. */
export const mayChange = ({ verbs }: Actable): boolean => verbs.some(({ obstacle }) => obstacle !== 'RIGHT')

const knownVerb = ({ kind }: Actable, { name }: JudgedVerb): readonly Verb[] =>
  verbsOf(kind).filter((verb) => verb.name === name)

function actionOf(
  { name, label, confirm, danger, mutation, input, flags }: Verb,
  { id }: Actable,
  effect: string | null = null,
): Action {
  const confirmed = flags.filter((flag) => flag.confirmed).map((flag) => [flag.name, true])
  return {
    name,
    label,
    confirm,
    effect,
    danger,
    field: mutation,
    input: `${mutation.charAt(0).toUpperCase()}${mutation.slice(1)}Input`,
    variables: { ...(input as object), id, ...Object.fromEntries(confirmed) },
  }
}
