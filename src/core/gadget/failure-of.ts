import { describeJsonProblem, jsonProblem } from '../json-problem.ts'
import { jsonBounds, LIMITS } from '../limits.ts'
import type { GadgetOutput } from './output.ts'

/** `error`: it wrote an `Error` line. */
export type FailureCause = 'protocol' | 'error' | 'exit' | 'signal'
export interface GadgetFailure {
  readonly cause: FailureCause
  readonly message: string
}
/** The end of a process: either its exit code or its signal is null. */
export interface GadgetEnd {
  readonly exitCode: number | null
  readonly signal: string | null
}

/** Why a call that has ended by itself has failed; null: it has succeeded. */
export function failureOf({ exitCode, signal }: GadgetEnd, output: GadgetOutput): GadgetFailure | null {
  if (output.problem !== null) return { cause: 'protocol', message: `It broke the gadget protocol. ${output.problem}` }
  if (output.error !== null) return { cause: 'error', message: output.error }
  if (signal !== null) return { cause: 'signal', message: `It was ended by ${signal}.` }
  if (exitCode !== 0) return { cause: 'exit', message: `It ended with exit code ${exitCode}.` }
  const excess = jsonProblem({ ...output.exports }, jsonBounds(LIMITS.json))
  return excess
    ? { cause: 'protocol', message: `It broke the gadget protocol: ${describeJsonProblem('exports', excess)}.` }
    : null
}
