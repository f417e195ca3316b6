import { CommanderError } from 'commander'
import { ClientError } from '../client/index.ts'
import { problemOfSurroundings } from '../core/surroundings.ts'
import type { FamilyDefinition } from '../families/define-family.ts'
import { families as ownFamilies } from '../families/index.ts'
import type { Cli } from './cli.ts'
import { describeClientError } from './connection.ts'
import { withGlobalOptions } from './global-options.ts'
import { printRefusal } from './objects/refusal.ts'
import { createProgram } from './program.ts'
import { inputRefusal } from './terminal/ask.ts'
import { EXIT, type ExitCode } from './terminal/exit.ts'
import { type Io, printJson, printLine, printText } from './terminal/io.ts'

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
    const program = await createProgram(cli, families)
    await program.parseAsync(withGlobalOptions(argv, program), { from: 'user' })
    return cli.exitCode
  } catch (error) {
    return explain(error, argv.includes('--json'), io)
  }
}

function explain(error: unknown, json: boolean, io: Io): ExitCode {
  // Commander has printed the error; help and version are its "errors" with code 0.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage
  if (io.signal.aborted) return EXIT.interrupted
  const refusal = inputRefusal(error)
  if (refusal) return printRefusal(refusal, json, io.stdout, io.stderr)
  if (error instanceof ClientError) {
    const message = describeClientError(error)
    if (json) printJson(io.stdout, { error: { code: error.kind.toUpperCase(), message } })
    else printLine(io.stderr, message)
    return EXIT.unavailable
  }
  const problem = problemOfSurroundings(error)
  if (problem !== null) {
    if (json) printJson(io.stdout, { error: { code: 'SURROUNDINGS', message: problem } })
    else printLine(io.stderr, problem)
    return EXIT.unavailable
  }
  printText(io.stderr, `This is a defect of phaseline: ${error instanceof Error ? error.stack : String(error)}\n`)
  return EXIT.bug
}
