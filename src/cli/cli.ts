import type { Appliable } from './manifests/appliable.ts'
import type { ExitCode } from './terminal/exit.ts'
import type { Io } from './terminal/io.ts'

/** One run of the program: the parts of the process that it may use, and the exit code of its command. */
export interface Cli {
  readonly io: Io
  exitCode: ExitCode
  /** Kinds of documents that `apply` takes, of all families, and of what belongs to none. */
  readonly kinds: readonly Appliable[]
  /** Kinds of documents that it does not take, with the reason. */
  readonly otherKinds: Readonly<Record<string, string>>
}
