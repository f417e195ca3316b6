import { ClientError } from '../client/client-error.ts'
import { problemOfSurroundings } from '../core/surroundings.ts'
import { describeClientError } from './connection.ts'
import { printRefusal } from './objects/refusal.ts'
import { requestRefusal } from './terminal/ask.ts'
import { EXIT, type ExitCode } from './terminal/exit.ts'
import { type Io, printJson, printLine, printText } from './terminal/io.ts'

/** Prints why a command has failed. */
export function explain(error: unknown, json: boolean, io: Io): ExitCode {
  if (io.signal.aborted) return EXIT.interrupted
  const refusal = requestRefusal(error)
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
