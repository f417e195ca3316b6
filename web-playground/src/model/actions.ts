import { type Verb, verbsOf } from './known.ts'

/** An action of a viewer on an object: its button, and its mutation. */
export interface Action {
  readonly name: string
  readonly label: string
  /** The question before the action; null when it is harmless. `{name}` is the object's name. */
  readonly confirm: string | null
  readonly danger: boolean
  readonly field: string
  readonly input: string
  readonly variables: Readonly<Record<string, unknown>>
}

export interface Actable {
  readonly id: string
  readonly kind: string
  readonly phase: string
  readonly finished: boolean
  readonly parent: { readonly id: string } | null
  readonly deletionRequestedAt: string | null
  readonly allowedTransitions: readonly { readonly machine: string; readonly to: string }[]
}

export const actionsFor = (object: Actable): readonly Action[] =>
  verbsOf(object.kind)
    .filter((verb) => isThere(verb, object))
    .map((verb) => actionOf(verb, object))

function isThere({ rootsOnly, finished, whileDeleting, machine, to, phases }: Verb, object: Actable): boolean {
  if (rootsOnly && object.parent) return false
  if (finished !== null && finished !== object.finished) return false
  if (object.deletionRequestedAt !== null) {
    if (whileDeleting === 'NEVER' || (whileDeleting === 'ONCE_FINISHED' && !object.finished)) return false
  }
  if (to === null) return phases.includes(object.phase)
  return object.allowedTransitions.some((row) => row.machine === machine && to.includes(row.to))
}

function actionOf({ name, label, confirm, danger, mutation, input, flags }: Verb, { id }: Actable): Action {
  const confirmed = flags.filter((flag) => flag.confirmed).map((flag) => [flag.name, true])
  return {
    name,
    label,
    confirm,
    danger,
    field: mutation,
    input: `${mutation.charAt(0).toUpperCase()}${mutation.slice(1)}Input`,
    variables: { ...(input as object), id, ...Object.fromEntries(confirmed) },
  }
}
