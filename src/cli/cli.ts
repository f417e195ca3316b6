import type { Command } from 'commander'
import type { ObjectKind } from '../core/vocabulary.ts'
import type { ArchivedStream } from './archive/stream.ts'
import type { Appliable, Exportable } from './manifests/appliable.ts'
import type { Located } from './objects/address.ts'
import type { AskMany } from './objects/selection.ts'
import type { Session } from './session.ts'
import type { ExitCode } from './terminal/exit.ts'
import type { Io } from './terminal/io.ts'

/** Prints one object in full, or refuses one that is gone. */
export type ShowObject = (session: Session, object: Located) => Promise<ExitCode>
export type Shows = Readonly<Partial<Record<ObjectKind, () => Promise<ShowObject>>>>

/** The part of a family in `status`, of one project or of all: lines, and fields of its JSON. */
export type Standing = (
  session: Session,
  project: string | undefined,
) => Promise<{ readonly lines: readonly string[]; readonly json: object }>

/** Adds options, arguments, action and the commands beneath it. */
export type AddCommand = (command: Command, cli: Cli) => void

/** The parts of the help, in their order. */
export const HELP_GROUPS = {
  See: 'See what there is, and why',
  Change: 'Change what there is',
  Work: 'Kinds of work',
  Around: 'What work uses, and what follows from it',
  Agents: 'Agents and gadgets',
  Server: 'Servers and access',
  Machine: 'This command line',
} as const

/** A command of the program. The help shows it, and its code is loaded only when the command line names it. */
export interface CommandEntry {
  /** Its line in the help, e.g. `get [options] [name]`. Entries of one usage are the same command. */
  readonly usage: string
  readonly group: keyof typeof HELP_GROUPS
  readonly description: string
  load(): Promise<AddCommand>
}

/** Kinds of documents, of all families, and of what belongs to none. */
export interface DocumentKinds {
  /** `apply` takes them. */
  readonly kinds: readonly Appliable[]
  /** It does not take them: each with the reason. */
  readonly otherKinds: Readonly<Record<string, string>>
}

/** One run of the program: the parts of the process that it may use, and the exit code of its command. */
export interface Cli {
  readonly io: Io
  exitCode: ExitCode
  /** How `get` shows an object of a kind that has more than all objects have. */
  readonly shows: Shows
  documentKinds(): Promise<DocumentKinds>
  /** Kinds whose objects `export` prints by their names. */
  exportables(): Promise<readonly Exportable[]>
  /** How a verb is asked of all objects that a selection has; null: no family can. */
  askMany(): Promise<AskMany | null>
  standings(): Promise<readonly Standing[]>
  /** The streams of families, beside log and audit. */
  archivedStreams(): Promise<readonly ArchivedStream[]>
  /** The program with all of its commands, whichever the command line names. */
  wholeProgram(): Promise<Command>
}
