import { type ClassCounts, NO_COUNTS, type PhaseClass } from './phases.ts'

/** The kinds, phases and verbs of the server: the dashboard is built without any. */
export interface Known {
  readonly families: readonly KnownFamily[]
  readonly stateMachines: readonly {
    readonly classes: readonly { readonly phase: string; readonly class: string }[]
    readonly verbs: readonly Verb[]
  }[]
}
export interface KnownFamily {
  readonly name: string
  readonly title: string
  readonly kinds: readonly { readonly kind: string; readonly noun: string; readonly agents: readonly string[] }[]
}
/** A verb of a kind, and its mutation. */
export interface Verb {
  readonly machine: string
  readonly kind: string
  readonly name: string
  readonly label: string
  readonly mutation: string
  readonly phases: readonly string[]
  readonly to: readonly string[] | null
  readonly rootsOnly: boolean
  readonly finished: boolean | null
  readonly whileDeleting: 'ALLOWED' | 'ONCE_FINISHED' | 'NEVER'
  readonly confirm: string | null
  readonly danger: boolean
  readonly input: unknown
  readonly flags: readonly { readonly name: string; readonly confirmed: boolean }[]
  readonly otherwise: string | null
}

// Shared by the whole page: a page belongs to one server, whose kinds do not change while it runs.
let families: readonly KnownFamily[] = []
let classes: ReadonlyMap<string, PhaseClass> = new Map()
let nouns: ReadonlyMap<string, string> = new Map()
let verbs: readonly Verb[] = []

/** Stores the server's kinds, before anything is drawn. */
export function learn(known: Known): void {
  const { stateMachines } = known
  families = known.families
  verbs = stateMachines.flatMap((machine) => machine.verbs)
  nouns = new Map(families.flatMap(({ kinds }) => kinds.map(({ kind, noun }) => [kind, noun] as const)))
  classes = new Map(
    stateMachines.flatMap((machine) =>
      machine.classes.map((one) => [one.phase, one.class.toLowerCase() as PhaseClass] as const),
    ),
  )
}

export const knownFamilies = (): readonly KnownFamily[] => families
/** True if it is a kind of object, which has phases. */
export const isKnownKind = (kind: string): boolean => nouns.has(kind)
/** Kinds that agents work on. */
export const workedKinds = (): readonly string[] =>
  families.flatMap(({ kinds }) => kinds.filter(({ agents }) => agents.length > 0).map(({ kind }) => kind))
/** GONE is no phase of a machine: it is the end of a removal. */
export const classOf = (phase: string): PhaseClass => classes.get(phase) ?? (phase === 'GONE' ? 'removing' : 'active')
/** The phases of a class. */
export const phasesOf = (className: string): readonly string[] =>
  [...classes]
    .filter(([, one]) => one === className)
    .map(([phase]) => phase)
    .concat(className === 'removing' ? 'GONE' : [])
/** All phases that need a person's attention. */
export const failedPhases = (): readonly string[] =>
  [...classes].filter(([, phaseClass]) => phaseClass === 'failed').map(([phase]) => phase)
/** In the order in which pages show them. */
export const verbsOf = (kind: string): readonly Verb[] => verbs.filter((verb) => verb.kind === kind)

/** e.g. `DEPLOY_ITEM` → `Deploy item`. */
export function humanKind(kind: string): string {
  const noun = nouns.get(kind) ?? kind.toLowerCase().replaceAll('_', ' ')
  return noun.charAt(0).toUpperCase() + noun.slice(1)
}

export function countClasses(phases: Iterable<string>): ClassCounts {
  const counts = { ...NO_COUNTS }
  for (const phase of phases) counts[classOf(phase)] += 1
  return counts
}
