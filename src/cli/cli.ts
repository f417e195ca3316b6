import type { ObjectKind } from '../core/vocabulary.ts'
import type { Appliable } from './manifests/appliable.ts'
import type { Located } from './objects/address.ts'
import type { Session } from './session.ts'
import type { ExitCode } from './terminal/exit.ts'
import type { Io } from './terminal/io.ts'

/** Prints one object in full, or refuses one that is gone. */
export type ShowObject = (session: Session, object: Located) => Promise<ExitCode>
export type Shows = Readonly<Partial<Record<ObjectKind, ShowObject>>>

/** One run of the program: the parts of the process that it may use, and the exit code of its command. */
export interface Cli {
  readonly io: Io
  exitCode: ExitCode
  /** Kinds of documents that `apply` takes, of all families, and of what belongs to none. */
  readonly kinds: readonly Appliable[]
  /** Kinds of documents that it does not take, with the reason. */
  readonly otherKinds: Readonly<Record<string, string>>
  /** How `get` shows an object of a kind that has more than all objects have. */
  readonly shows: Shows
}
