import { SHARED_WORDS } from '../core/descriptions.ts'
import { type Machine, type PhaseClass, secondaryMachines } from '../core/machine.ts'
import type { ClaimedItem } from '../core/ports/agents.ts'
import type { ShownRetries } from '../core/retry.ts'
import { isFinished, type ObjectRow } from '../core/tree.ts'
import type { Verb } from '../core/verb.ts'
import type { Actor, BlockerReason, FamilyWords, ObjectKind, Phase } from '../core/vocabulary.ts'
import type { FinishedRule } from '../store/loaders/find-objects.ts'
import type { GraphQLContext } from './context.ts'

/** Something that an object waits for. Each concrete type adds its own fields. */
export interface BlockerValue {
  readonly __typename: string
  readonly reason: BlockerReason
  readonly message: string
  readonly sourceId?: string | undefined
}

/** A request on an object that was accepted, and waits for what runs. */
export interface PendingRequestValue {
  /** A verb of the kind. */
  readonly verb: string
  readonly mode: string | null
  readonly by: string | null
  readonly at: Date | null
  readonly message: string
}

/** A clock that runs for an object. */
export interface DeadlineValue {
  readonly name: string
  readonly since: Date
  readonly expiresAt: Date
  /** Phase after the deadline; null if the phase does not change. */
  readonly to: Phase | null
  /** Its effect, for people. */
  readonly message: string
}

/** When an object is expected to end. */
export interface ForecastValue {
  readonly p50: Date | null
  readonly p90: Date | null
  /** Earlier runs that it is drawn from, and how many of them had ended it by this point. */
  readonly runs: number
  readonly endedRuns: number
  /** Ids of the objects whose ends determine its end and are still to come, in the order of time. */
  readonly criticalPath: readonly string[]
}

/** A kind's names and fields in the API. */
export interface KindDefinition {
  /** The GraphQL type of its objects. */
  readonly type: string
  /** As people call one of them, in lower case. */
  readonly noun: string
  /** Actors whose agents work on its objects. Left out: none. */
  readonly agents?: readonly Actor[]
  /** Its roots are at rest while objects below them have requests of their own. Left out: a root ends last. */
  readonly isStanding?: true
}

/** A family as the API sees it. */
export interface GraphQLFamily extends FamilyApi {
  readonly name: string
  /** As people read it. */
  readonly title: string
  readonly machines: readonly Machine[]
  readonly kinds: Readonly<Partial<Record<ObjectKind, KindDefinition>>>
  readonly words: FamilyWords
}

/**
 * Reads the objects of a family for the API. Loading the module that exports it adds the family's own types, queries and
 * mutations to the builder. Each function takes all objects of a list and returns one result for each, in order.
 */
export interface FamilyApi {
  blockers(context: GraphQLContext, rows: readonly ObjectRow[]): Promise<readonly (readonly BlockerValue[])[]>
  deadlines(context: GraphQLContext, rows: readonly ObjectRow[]): Promise<readonly (readonly DeadlineValue[])[]>
  /** The attempts of an object in its running or last job; null: it has no retry policy. Left out: no kind has one. */
  attempts?(context: GraphQLContext, row: ObjectRow): Promise<ShownRetries | null>
  /** True for an object that waits at a gate for people. Left out: no kind does. */
  awaitsApproval?(context: GraphQLContext, row: ObjectRow): Promise<{ readonly isAuthor: boolean } | null>
  /** When an object is expected to end; null: nothing shows it. Left out: no kind has earlier runs. */
  forecast?(context: GraphQLContext, row: ObjectRow): Promise<ForecastValue | null>
  /** The phase in the secondary machine, for kinds that have one. */
  secondaryPhase?(context: GraphQLContext, row: ObjectRow): Promise<Phase | null>
  /** True for objects with a job that is still to begin. */
  outstanding(context: GraphQLContext, rows: readonly ObjectRow[]): Promise<readonly boolean[]>
  /** The same as a condition on `object o`. */
  readonly outstandingSql: string
  /**
   * True for an object without a job, in no final phase, that gets no job from the running or last job of its tree.
   * Left out: no object of the family is like this.
   */
  leftOut?(context: GraphQLContext, rows: readonly ObjectRow[]): Promise<readonly boolean[]>
  /** The same as a condition on `object o`. */
  readonly leftOutSql?: string
  /** The objects whose `blockedBy` has a DECISION about themselves, as a condition on `object o`. Left out: none. */
  readonly undecidedSql?: string
  /** Requests that were accepted and wait. Left out: the family runs a request at once, or refuses it. */
  pendingRequests?(
    context: GraphQLContext,
    rows: readonly ObjectRow[],
  ): Promise<readonly (readonly PendingRequestValue[])[]>
  /** The effect of a verb on an object now, in a sentence; null: its label says it. Left out: all labels do. */
  verbEffect?(context: GraphQLContext, row: ObjectRow, verb: Verb): Promise<string | null>
  /**
   * Adds to claimed items what only the agent may see: it is made for this one answer, never stored, logged or cached.
   * One for each item of its kinds, in order; null leaves an item as it is.
   */
  claimPayloads?(context: GraphQLContext, items: readonly ClaimedItem[]): Promise<readonly (ClaimPayload | null)[]>
}

export interface ClaimPayload {
  readonly config: unknown
  /** Bearer token for the process that the agent starts. */
  readonly token: string | null
  /** Names of the secrets in it, for the audit; absent: none. */
  readonly secretNames?: readonly string[]
}

/** All families' machines and types, by kind. */
export interface KindRegistry {
  readonly families: readonly GraphQLFamily[]
  readonly machines: readonly Machine[]
  /** Names of machines of another field than `phase`: their changes say nothing of an object's phase. */
  readonly secondaryMachines: readonly string[]
  readonly finishedRule: FinishedRule
  /** Conditions on an object `o` about which a person must decide. */
  readonly undecided: readonly string[]
  /** Kinds of roots that are at rest while objects below them are not. */
  readonly standing: readonly ObjectKind[]
  /** The phases of the class FAILED. */
  readonly failedPhases: readonly Phase[]
  familyOf(kind: ObjectKind): GraphQLFamily
  machinesOf(kind: ObjectKind): readonly Machine[]
  typenameOf(kind: ObjectKind): string
  /** In a final phase of its machine, with no job running. */
  isAtRest(row: ObjectRow): boolean
}

export function createKindRegistry(families: readonly GraphQLFamily[]): KindRegistry {
  const machines = families.flatMap((family) => family.machines)
  const byKind = new Map(families.flatMap((family) => kindsOf(family).map((kind) => [kind, family] as const)))
  const familyOf = (kind: ObjectKind): GraphQLFamily => {
    const family = byKind.get(kind)
    if (!family) throw new Error(`no family has the kind ${kind}`)
    return family
  }
  const machinesOf = (kind: ObjectKind): readonly Machine[] =>
    machines.filter((machine) => machine.kinds.includes(kind))
  // A kind with two lifecycles has its phase from the first.
  const final = new Map([...byKind.keys()].map((kind) => [kind, new Set(machinesOf(kind)[0]?.final)]))
  checkClasses(machines)
  for (const family of families) checkWords(family)
  return {
    families,
    machines,
    secondaryMachines: secondaryMachines(machines),
    finishedRule: {
      final: [...final].flatMap(([kind, phases]) => [...phases].map((phase) => ({ kind, phase }))),
      outstanding: families.map((family) => family.outstandingSql),
      leftOut: families.flatMap((family) => family.leftOutSql ?? []),
    },
    undecided: families.flatMap((family) => family.undecidedSql ?? []),
    standing: [...byKind].flatMap(([kind, { kinds }]) => (kinds[kind]?.isStanding ? kind : [])),
    failedPhases: [
      ...new Set(
        machines.flatMap(({ classes }) => [...classes].flatMap(([phase, one]) => (one === 'FAILED' ? phase : []))),
      ),
    ],
    familyOf,
    machinesOf,
    typenameOf: (kind) => (familyOf(kind).kinds[kind] as KindDefinition).type,
    isAtRest: (row) => isFinished(row) && (final.get(row.kind)?.has(row.phase) ?? false),
  }
}

const kindsOf = (family: GraphQLFamily): readonly ObjectKind[] => Object.keys(family.kinds) as ObjectKind[]

/** Clients draw a phase without its kind, as in filters, so its class is the same for all kinds. */
function checkClasses(machines: readonly Machine[]): void {
  const known = new Map<Phase, PhaseClass>()
  for (const { name, classes } of machines) {
    for (const [phase, phaseClass] of classes) {
      const before = known.get(phase)
      if (before && before !== phaseClass)
        throw new Error(`machine ${name}: ${phase} is ${phaseClass} here and ${before} in another machine`)
      known.set(phase, phaseClass)
    }
  }
}

/** The API explains each word with the meaning that its family gives. */
function checkWords({ name, machines, kinds, words }: GraphQLFamily): void {
  const used = {
    kinds: Object.keys(kinds),
    phases: machines.flatMap(({ phases }) => phases),
    actors: machines.flatMap(({ transitions }) => transitions.map(({ actor }) => actor)),
  }
  for (const [key, all] of Object.entries(used)) {
    const known = { ...SHARED_WORDS[key as keyof FamilyWords], ...words[key as keyof FamilyWords] }
    const unknown = all.find((word) => !Object.hasOwn(known, word))
    if (unknown) throw new Error(`family ${name}: ${unknown} has no meaning in its words`)
  }
}
