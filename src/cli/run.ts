import { CommanderError } from 'commander'
import type { FamilyDefinition } from '../families/define-family.ts'
import { families as ownFamilies } from '../families/index.ts'
import type { Cli } from './cli.ts'
import { withGlobalOptions } from './global-options.ts'
import { createProgram } from './program.ts'
import { EXIT, type ExitCode } from './terminal/exit.ts'
import type { Io } from './terminal/io.ts'

/**
 * Runs one command line (without node and script), with the commands of these families; returns the exit code. It never
 * ends the process and never throws.
 */
export async function run(
  argv: readonly string[],
  io: Io,
  families: readonly FamilyDefinition[] = ownFamilies,
): Promise<ExitCode> {
  const cli: Pick<Cli, 'io' | 'exitCode'> = { io, exitCode: EXIT.ok }
  try {
    const program = await createProgram(cli, families, argv)
    await program.parseAsync(withGlobalOptions(argv, program), { from: 'user' })
    return cli.exitCode
  } catch (error) {
    // Commander has printed the error; help and version are its "errors" with code 0.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage
    const { explain } = await import('./explain.ts')
    return explain(error, argv.includes('--json'), io)
  }
}
