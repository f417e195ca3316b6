import type { Actor, ObjectKind, Phase } from './vocabulary.ts'

/** Availability of a verb after the deletion of its object is requested. */
export const WHILE_DELETING = ['ALLOWED', 'ONCE_FINISHED', 'NEVER'] as const
export type WhileDeleting = (typeof WHILE_DELETING)[number]

/** A request that a user may make in some phases, with its mutation: all that a client needs for a button or a command. */
export interface Verb {
  readonly machine: string
  readonly kind: ObjectKind
  /** Unique for a kind, e.g. `cancel`. */
  readonly name: string
  readonly label: string
  /** Takes one `input` with the object's `id`, `input`, and flags. */
  readonly mutation: string
  readonly phases: readonly Phase[]
  /** Targets of the user's transitions that it requests. Null: the request is not a transition of the user. */
  readonly to: readonly Phase[] | null
  /** Available only for objects without a parent. */
  readonly rootsOnly: boolean
  /** Available only for finished objects, or only for unfinished ones; null: for both. */
  readonly finished: boolean | null
  readonly whileDeleting: WhileDeleting
  /** Available only for objects that wait for their next attempt. */
  readonly inBackoff: boolean
  /** Available only for objects that wait at a gate for people. */
  readonly atGate: boolean
  /** Not for whoever has asked for what it decides about. */
  readonly byOthers: boolean
  /** Available only while the tree is paused, or only while it is not; null: always. */
  readonly paused: boolean | null
  /** Question to confirm, with `{name}` for the object's name; null: the verb is harmless. */
  readonly confirm: string | null
  /** The effect cannot be undone. */
  readonly danger: boolean
  readonly input: Readonly<Record<string, unknown>>
  readonly flags: readonly VerbFlag[]
  /** Why it is unavailable in other phases, as an end to "x was left out: …"; null: no reason is known. */
  readonly otherwise: string | null
}
/** A boolean of a verb's input. */
export interface VerbFlag {
  readonly name: string
  readonly description: string
  /** Set by a client once the user has confirmed the verb. */
  readonly confirmed: boolean
}

/** Question before the cancellation of an object with children. */
export const CANCEL_TEXT = 'Cancel {name}: nothing new starts, and what is running below it is stopped.'
export const DELETE_TEXT = 'Delete {name} and everything below it. This cannot be undone.'

/** Verbs of work that waits for its next attempt in one of these phases. */
export const backoffVerbs = (phases: readonly Phase[], kind?: ObjectKind): readonly VerbRow[] => {
  const row = { phases, inBackoff: true, ...(kind && { kind }) }
  return [
    { ...row, name: 'retryNow', label: 'Try now', mutation: 'retryNow' },
    {
      ...row,
      name: 'giveUpRetries',
      label: 'Give up retries',
      mutation: 'giveUpRetries',
      confirm: 'Make the last failure of {name} final: it is not attempted again in this job.',
    },
  ]
}

/** Verbs of what waits at a gate for people in this phase. @param effect what a rejection leads to */
export const gateVerbs = (phase: Phase, effect: string, kind?: ObjectKind): readonly VerbRow[] => {
  const row = { phases: [phase], atGate: true, ...(kind && { kind }) }
  return [
    { ...row, name: 'approve', label: 'Approve', mutation: 'approve', byOthers: true },
    {
      ...row,
      name: 'reject',
      label: 'Reject',
      mutation: 'reject',
      confirm: `Reject {name}: ${effect}`,
      danger: true,
    },
  ]
}

/** Verbs of a root whose work is that of agents. */
export const pauseVerbs = (kind: ObjectKind, { endsForGood = false } = {}): readonly VerbRow[] => [
  {
    kind,
    name: 'pause',
    label: 'Pause',
    mutation: 'pause',
    rootsOnly: true,
    paused: false,
    ...(endsForGood && { finished: false }),
  },
  { kind, name: 'resume', label: 'Resume', mutation: 'resume', rootsOnly: true, paused: true },
]

/** A verb as written in its machine's table. */
export type VerbRow = Pick<Verb, 'name' | 'label' | 'mutation'> &
  Partial<Omit<Verb, 'machine' | 'kind' | 'flags'>> & {
    /** All kinds of the machine if left out. */
    readonly kind?: ObjectKind
    readonly flags?: readonly (Omit<VerbFlag, 'confirmed'> & Partial<VerbFlag>)[]
  }

interface Lifecycle {
  readonly name: string
  readonly kinds: readonly ObjectKind[]
  readonly phases: readonly Phase[]
  readonly final: readonly Phase[]
  readonly transitions: readonly { readonly from: Phase; readonly actor: Actor; readonly to: Phase }[]
}

/** Expands a row to the verbs of its kinds. A mistake in a table is a bug, so it throws when the module loads. */
export function verbsOf(
  { kind, flags = [], ...row }: VerbRow,
  { name, kinds, phases, final, transitions }: Lifecycle,
): readonly Verb[] {
  const { to = null, finished = null } = row
  const possible = finished ? final : phases
  const rows = transitions.filter((one) => one.actor === 'USER' && to?.includes(one.to))
  const reachable = to ? possible.filter((phase) => rows.some(({ from }) => from === phase)) : possible
  if (reachable.length === 0) throw new Error(`machine ${name}: the user has no transition for ${row.name}`)
  return (kind ? [kind] : kinds).map((one) => ({
    rootsOnly: false,
    whileDeleting: 'ALLOWED',
    confirm: null,
    danger: false,
    inBackoff: false,
    atGate: false,
    byOthers: false,
    paused: null,
    input: {},
    otherwise: null,
    phases: reachable,
    ...row,
    to,
    finished,
    machine: name,
    kind: one,
    flags: flags.map((flag) => ({ confirmed: false, ...flag })),
  }))
}
