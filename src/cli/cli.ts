import type { ExitCode } from './terminal/exit.ts'
import type { Io } from './terminal/io.ts'

/** One run of the program: the parts of the process that it may use, and the exit code of its command. */
export interface Cli {
  readonly io: Io
  exitCode: ExitCode
}
