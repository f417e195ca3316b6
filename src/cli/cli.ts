import type { ExitCode } from './terminal/exit.ts'
import type { Io } from './terminal/io.ts'

/** One run of the program: what it may touch, and the exit code that the command has decided on. */
export interface Cli {
  readonly io: Io
  exitCode: ExitCode
}
