import { type ClassCounts, countClasses, Machines, type PhaseClass } from 'phaseline/client-model'
import type { Machine } from './machines.ts'

/** The kinds, phases and verbs of the server: the dashboard is built without any. */
export interface Known {
  readonly families: readonly KnownFamily[]
  readonly stateMachines: readonly KnownMachine[]
}
export interface KnownMachine extends Machine {
  readonly verbs: readonly Verb[]
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
let machines = new Machines<KnownMachine>([])
let nouns: ReadonlyMap<string, string> = new Map()
let worked: ReadonlySet<string> = new Set()

/** Stores the server's kinds, before anything is drawn. */
export function setServerVocabulary(known: Known): Machines<KnownMachine> {
  families = known.families
  machines = new Machines(known.stateMachines)
  const kinds = families.flatMap((family) => family.kinds)
  nouns = new Map(kinds.map(({ kind, noun }) => [kind, noun] as const))
  worked = new Set(kinds.filter(({ agents }) => agents.length > 0).map(({ kind }) => kind))
  return machines
}

export const knownFamilies = (): readonly KnownFamily[] => families
/** True if it is a kind of object, which has phases. */
export const isKnownKind = (kind: string): boolean => nouns.has(kind)
/** Kinds that agents work on. */
export const workedKinds = (): readonly string[] => [...worked]
export const isWorkedKind = (kind: string): boolean => worked.has(kind)
export const classOf = (phase: string): PhaseClass => machines.classOf(phase)
/** In a final phase an object rests until somebody asks for something. */
export const isFinalPhase = (kind: string, phase: string): boolean => machines.isFinal(kind, phase)
/** The phases of a class, which the address has in small letters. */
export const phasesOf = (className: string): readonly string[] => machines.phasesOf(className.toUpperCase())
/** The machine of the phase of a kind. */
export const knownMachine = (kind: string): KnownMachine | undefined => machines.of(kind)
/** In the order in which pages show them. */
export const verbsOf = (kind: string): readonly Verb[] =>
  machines.all.flatMap(({ verbs }) => verbs).filter((verb) => verb.kind === kind)

/** e.g. `DEPLOY_ITEM` → `Deploy item`. */
export function humanKind(kind: string): string {
  const noun = nouns.get(kind) ?? kind.toLowerCase().replaceAll('_', ' ')
  return noun.charAt(0).toUpperCase() + noun.slice(1)
}

export const countPhases = (phases: Iterable<string>): ClassCounts => countClasses([...phases].map(classOf))
