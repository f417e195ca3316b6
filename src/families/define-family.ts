import type { Pool } from 'pg'
import type { ProgramDefinition } from '../agents/program.ts'
import type { ArchivedStream } from '../cli/archive/stream.ts'
import type { CommandEntry, Shows, Standing } from '../cli/cli.ts'
import type { Appliable, Exportable } from '../cli/manifests/appliable.ts'
import type { AskMany } from '../cli/objects/selection.ts'
import type { Config } from '../config.ts'
import type { EditorTypes } from '../core/deployers/item-types.ts'
import type { Machine } from '../core/machine.ts'
import type { Log } from '../core/ports/log.ts'
import type { System } from '../core/ports/system.ts'
import type { Right } from '../core/rights.ts'
import type { TimeoutDefaults, TimeoutSetting } from '../core/tree.ts'
import type { Actor, FamilyWords, ObjectKind } from '../core/vocabulary.ts'
import type { SelfMadeTokens } from '../graphql/auth/tokens.ts'
import type { FamilyServices } from '../graphql/context.ts'
import type { FamilyApi, GraphQLFamily, KindDefinition } from '../graphql/family.ts'
import type { Sandbox } from '../sandbox/index.ts'
import type { Client } from '../store/client.ts'
import type { Sealing } from '../store/sealing.ts'
import type { Writes } from '../store/write-watch.ts'
import type { AskedMutation } from './asked-verb.ts'
import type { Verbs } from './creation.ts'
import type { Family, Trees } from './family.ts'
import type { Trigger } from './trigger.ts'

/** A family as one object: data that is cheap to load, and its halves in a server and in the command line. */
export interface FamilyDefinition {
  readonly name: string
  /** As people read it, e.g. over a list of its kinds. */
  readonly title: string
  /** A kind's first machine is that of its phase; further ones belong to other fields. */
  readonly machines: readonly Machine[]
  readonly kinds: Readonly<Partial<Record<ObjectKind, KindDefinition>>>
  /** Its kinds, phases, actors and actions, each with its meaning. New ones are added to the database. */
  readonly words: FamilyWords
  /** Timeouts of its own. Rules read them as `slice.timeouts`. */
  readonly timeouts?: readonly TimeoutSetting[]
  /** Rights on its kinds, and on what else it adds to the API. Each of its root fields declares one of them. */
  readonly rights: readonly Right[]
  /** Agents that a server starts as processes of their own. */
  readonly agents: readonly BuiltInAgent[]
  /** The programs of the package's agent processes for it, by the type of work. */
  readonly programs?: Readonly<Record<string, ProgramDefinition>>
  server(): Promise<FamilyServer>
  cli?(): Promise<FamilyCli>
}

/** The half of a family that works on the database and in the API. Loading it adds the family's types to the schema. */
export interface FamilyServer {
  readonly rules: Family
  readonly graphql: FamilyApi
  /** The functions that resolvers call. `services` has those of all families, once all of them are made. */
  commands(parts: FamilyParts, services: FamilyServices): Partial<FamilyServices>
  /** Its roots that others create in transactions of theirs. */
  verbs?(services: FamilyServices): Partial<Verbs>
  /** Its roots that can be started by schedules and the like, by names that are unique over all families. */
  triggers?(services: FamilyServices): Readonly<Record<string, Trigger>>
  /** The mutations of its verbs that can be asked of many objects, by name. */
  asked?(services: FamilyServices): Readonly<Record<string, AskedMutation>>
  /** Works beside the engine for as long as that runs, in each process with one. */
  startWorker?(parts: WorkerParts, services: FamilyServices): FamilyWorker
  /** Recognises tokens that the family gives out itself. */
  tokens?(parts: Pick<FamilyParts, 'pool' | 'sealing'>): SelfMadeTokens
  /** Runs in a process with an engine, before that starts. */
  prepare?(parts: { readonly pool: Pool; readonly config: Config }): Promise<void>
}

export interface FamilyWorker extends AsyncDisposable {
  /** False: there is something that it does without waiting for a time. Absent: it does not know. */
  isAtRest?(client: Client): Promise<boolean>
}

/** The dependencies of what works beside the engine. */
export interface WorkerParts extends FamilyParts {
  readonly config: Config
  readonly log: Log
  readonly logger: { error(fields: object, message: string): void }
  readonly writes: Writes
  /** True for an object `o` with a job that is still to begin, in SQL. */
  readonly outstandingSql: string
  /** The machines of all families. */
  readonly machines: readonly Machine[]
}

/**
 * The half of a family that is part of `phaseline`, a client like any other. Each start of the program loads it, so it imports
 * nothing before that is used.
 */
export interface FamilyCli {
  readonly commands: readonly CommandEntry[]
  /** Loads the kinds of documents that it adds to `apply`, `plan`, `diff` and `export`. */
  kinds?(): Promise<readonly Appliable[]>
  /** Kinds of documents that `export` prints of a named object, and that another of its commands takes. */
  exports?(): Promise<readonly Exportable[]>
  /** Kinds of documents that another of its commands takes, with a sentence that names it. */
  readonly otherKinds?: Readonly<Record<string, string>>
  /** How `get` shows an object of a kind that has more than all objects have: as the kind's own command does. */
  readonly shows?: Shows
  /** Loads what asks a verb of many objects, such as `cancel --all`. One family has it. */
  askMany?(): Promise<AskMany>
  /** Loads its part in `status`. */
  standing?(): Promise<Standing>
  /** Loads the streams that it adds to `archive`. */
  archives?(): Promise<readonly ArchivedStream[]>
}

/** The dependencies of commands. */
export interface FamilyParts {
  readonly trees: Trees
  readonly sandbox: Sandbox
  readonly system: System
  /** For statements without a lock, such as finding an object. */
  readonly pool: Pool
  readonly log: Pick<Log, 'caughtUp'>
  readonly sealing: Sealing
  readonly timeouts: TimeoutDefaults
  readonly editorTypes: EditorTypes
}

/** An agent of the package: its token, and the processes that a server starts for it. */
export interface BuiltInAgent {
  /** Recorded as `by` of its phase changes. */
  readonly name: string
  readonly actor: Actor
  readonly types: readonly string[]
  /** From which its token is derived. Never changes: all processes of an installation have the same token. */
  readonly purpose: string
  processes(settings: AgentSettings): readonly AgentProcessSettings[] | Promise<readonly AgentProcessSettings[]>
}
export interface AgentSettings {
  /** Absolute paths. */
  readonly gadgetFolders: readonly string[]
  /** The parent of processes' state folders. */
  readonly dataDir: string
  readonly workloads: Config['workloads']
  /** Tells the operator what an agent may do on this machine. */
  announce(message: string, isWarning: boolean): void
}
export interface AgentProcessSettings {
  readonly types: readonly string[]
  readonly gadgetFolders?: readonly string[]
  readonly state?: string
  /** Arguments that only its program has, by name. */
  readonly options?: Readonly<Record<string, string>>
}

/** A family with its server's half. */
export interface LoadedFamily
  extends Omit<FamilyDefinition, 'server' | 'cli' | 'programs' | 'timeouts'>,
    Omit<FamilyServer, 'graphql'> {
  readonly graphql: GraphQLFamily
}

export const defineFamily = (family: FamilyDefinition): FamilyDefinition => Object.freeze(family)

export const timeoutsOf = (families: readonly FamilyDefinition[]): readonly TimeoutSetting[] =>
  families.flatMap(({ timeouts }) => timeouts ?? [])

/** Secrets of all families' own tokens. */
export function familyTokens(
  families: readonly LoadedFamily[],
  parts: Pick<FamilyParts, 'pool' | 'sealing'>,
): readonly SelfMadeTokens[] {
  return families.flatMap((family) => family.tokens?.(parts) ?? [])
}
