import { type Verb, type VerbRow, verbsOf } from './verb.ts'
import type { Actor, ObjectKind, Phase } from './vocabulary.ts'

/** One row of a machine: the actor may move an object from one phase to the other, for this reason. */
export interface Transition {
  readonly machine: string
  readonly from: Phase
  readonly actor: Actor
  readonly to: Phase
  readonly reason: string
  /** A change from a phase to itself that is recorded like any other, such as a firing. */
  readonly recorded?: true
}

/** The meaning of a phase for a viewer, whatever the kind, in the order in which it needs attention. */
export const PHASE_CLASSES = [
  'FAILED',
  'STOPPED',
  'UNDOING',
  'ACTIVE',
  'REMOVING',
  'WAITING',
  'DONE',
  'SKIPPED',
] as const
export type PhaseClass = (typeof PHASE_CLASSES)[number]

/** One lifecycle as data. The guard, the enum, the diagrams, the docs and the database trigger all come from it. */
export interface Machine {
  /** e.g. `deployItem`; a kind with two lifecycles has two machines, such as `cloudlet` and `cloudletUpgrade`. */
  readonly name: string
  readonly kinds: readonly ObjectKind[]
  /** In the order of their first mention, without `GONE`. */
  readonly phases: readonly Phase[]
  readonly initial: Phase
  /** Phases in which nothing runs and nothing happens without a request. */
  readonly final: readonly Phase[]
  readonly transitions: readonly Transition[]
  /** The class of each phase. */
  readonly classes: ReadonlyMap<Phase, PhaseClass>
  readonly verbs: readonly Verb[]
  /** True if one job of a root covers its whole tree. An object with another job is then not part of it. */
  readonly jobSpansTree: boolean
  /**
   * The column with the phases of a secondary machine. Its changes are in the log, but do not affect an object's
   * `phase`.
   */
  readonly column: MachineColumn | null
}
export interface MachineColumn {
  readonly table: string
  readonly column: string
}

export interface MachineDefinition {
  readonly name: string
  readonly kinds: readonly ObjectKind[]
  readonly initial: Phase
  readonly final: readonly Phase[]
  /** `from` and `to` may be lists: a row stands for each combination. */
  readonly rows: readonly (readonly [
    from: Phase | readonly Phase[],
    actor: Actor,
    to: Phase | readonly Phase[],
    reason: string,
  ])[]
  /** Rows from a phase to itself are recorded. Without it they are repetitions. */
  readonly recordsSelf?: boolean
  /** Phases without a class are ACTIVE. */
  readonly classes?: Readonly<Partial<Record<PhaseClass, readonly Phase[]>>>
  /** In the order in which they are shown. In every phase, or where the user has a row to one of `to`, unless `phases` says. */
  readonly verbs?: readonly VerbRow[]
  readonly jobSpansTree?: boolean
  /** For a secondary machine only. */
  readonly column?: MachineColumn
}

const list = <T>(value: T | readonly T[]): readonly T[] => (Array.isArray(value) ? value : [value as T])

/** Expands and checks a table. A mistake in a table is a bug, so it throws when the module loads. */
export function defineMachine(definition: MachineDefinition): Machine {
  const { name, kinds, initial, final, jobSpansTree = false, column = null, recordsSelf = false } = definition
  const transitions = definition.rows.flatMap(([froms, actor, tos, reason]) =>
    list(froms).flatMap((from) =>
      list(tos).map(
        (to): Transition => ({
          ...{ machine: name, from, actor, to, reason },
          ...(recordsSelf && from === to && { recorded: true }),
        }),
      ),
    ),
  )
  const seen = new Set<string>()
  for (const { from, actor, to } of transitions) {
    const key = `${from} ${actor} ${to}`
    if (seen.has(key)) throw new Error(`machine ${name}: row ${key} occurs twice`)
    if (from === 'GONE') throw new Error(`machine ${name}: nothing leaves GONE`)
    seen.add(key)
  }
  const mentioned = new Set<Phase>([initial, ...transitions.flatMap(({ from, to }) => [from, to])])
  const phases: readonly Phase[] = [...mentioned].filter((phase) => phase !== 'GONE')
  for (const phase of final) {
    if (!phases.includes(phase)) throw new Error(`machine ${name}: final phase ${phase} is in no row`)
  }
  const classes = classesOf(definition, phases)
  const verbs = (definition.verbs ?? []).flatMap((row) => verbsOf(row, { name, kinds, phases, final, transitions }))
  return Object.freeze({ name, kinds, initial, final, phases, transitions, classes, verbs, jobSpansTree, column })
}

function classesOf(
  { name, classes = {} }: MachineDefinition,
  phases: readonly Phase[],
): ReadonlyMap<Phase, PhaseClass> {
  const found = new Map<Phase, PhaseClass>(phases.map((phase) => [phase, 'ACTIVE']))
  for (const phaseClass of PHASE_CLASSES) {
    for (const phase of classes[phaseClass] ?? []) {
      if (found.get(phase) !== 'ACTIVE') throw new Error(`machine ${name}: ${phase} has two classes`)
      found.set(phase, phaseClass)
    }
  }
  return found
}

export type Step =
  | { readonly ok: true; readonly changed: boolean; readonly reason: string }
  | { readonly ok: false; readonly allowed: readonly Phase[] }

type Index = ReadonlyMap<string, Transition>
const indexes = new WeakMap<Machine, Index>()
function indexOf(machine: Machine): Index {
  let index = indexes.get(machine)
  if (!index) {
    index = new Map(machine.transitions.map((row) => [`${row.from} ${row.actor} ${row.to}`, row]))
    indexes.set(machine, index)
  }
  return index
}

/**
 * The guard: judges one phase change by (kind's machine, from, actor, to). A repeated report of the present phase is
 * accepted and changes nothing, if this actor may report that phase at all.
 */
export function step(machine: Machine, from: Phase, actor: Actor, to: Phase): Step {
  const row = indexOf(machine).get(`${from} ${actor} ${to}`)
  if (row) return { ok: true, changed: from !== to || row.recorded === true, reason: row.reason }
  if (from === to && canReport(machine, actor, to)) return { ok: true, changed: false, reason: 'repeated' }
  return { ok: false, allowed: allowedFrom(machine, from, actor) }
}

/** Phases to which this actor may move an object from `from`. */
export function allowedFrom(machine: Machine, from: Phase, actor: Actor): readonly Phase[] {
  return machine.transitions.filter((row) => row.from === from && row.actor === actor).map((row) => row.to)
}

function canReport(machine: Machine, actor: Actor, phase: Phase): boolean {
  return machine.transitions.some((row) => row.actor === actor && row.to === phase)
}

/** Names of the secondary machines among these. */
export const secondaryMachines = (machines: readonly Machine[]): readonly string[] =>
  machines.flatMap(({ name, column }) => (column ? [name] : []))
