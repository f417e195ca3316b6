import type { Actor, ObjectKind, Phase } from './vocabulary.ts'

/** Whether a verb is there although the deletion of the object is requested. */
export const WHILE_DELETING = ['ALLOWED', 'ONCE_FINISHED', 'NEVER'] as const
export type WhileDeleting = (typeof WHILE_DELETING)[number]

/** What a user may ask for in some phases, and the mutation that asks: all that a client needs for a button or a command. */
export interface Verb {
  readonly machine: string
  readonly kind: ObjectKind
  /** Unique for a kind, e.g. `cancel`. */
  readonly name: string
  readonly label: string
  /** Takes one `input` with the object's `id`, `input`, and flags. */
  readonly mutation: string
  readonly phases: readonly Phase[]
  /** Rows of the machine that it takes: to any of these. Null: it asks for something that is no row of the user's. */
  readonly to: readonly Phase[] | null
  /** Only of objects without a parent. */
  readonly rootsOnly: boolean
  /** Only of those that are finished, or of those that are not; null: of both. */
  readonly finished: boolean | null
  readonly whileDeleting: WhileDeleting
  /** What is asked before it is done, with `{name}` for the object's; null: it is harmless. */
  readonly confirm: string | null
  /** It cannot be taken back. */
  readonly danger: boolean
  readonly input: Readonly<Record<string, unknown>>
  readonly flags: readonly VerbFlag[]
  /** Why it is not there in other phases, as an end to "x was left out: …"; null: nothing more can be said. */
  readonly otherwise: string | null
}
/** A boolean of a verb's input. */
export interface VerbFlag {
  readonly name: string
  readonly description: string
  /** The question before the verb covers it: whoever confirms has it set. */
  readonly confirmed: boolean
}

/** Before a cancellation of something that has parts. */
export const CANCEL_TEXT = 'Cancel {name}: nothing new starts, and what is running below it is stopped.'
export const DELETE_TEXT = 'Delete {name} and everything below it. This cannot be undone.'

/** A verb as its machine's table has it. */
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

/** A row as the verbs of its kinds. A mistake in a table is a bug, so it throws when the module loads. */
export function verbsOf(
  { kind, flags = [], ...row }: VerbRow,
  { name, kinds, phases, final, transitions }: Lifecycle,
): readonly Verb[] {
  const { to = null, finished = null } = row
  const possible = finished ? final : phases
  const rows = transitions.filter((one) => one.actor === 'USER' && to?.includes(one.to))
  const reachable = to ? possible.filter((phase) => rows.some(({ from }) => from === phase)) : possible
  if (reachable.length === 0) throw new Error(`machine ${name}: the user has no row for ${row.name}`)
  return (kind ? [kind] : kinds).map((one) => ({
    rootsOnly: false,
    whileDeleting: 'ALLOWED',
    confirm: null,
    danger: false,
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
