import type { FieldProblem } from '../../../core/errors.ts'

/** Why an item cannot be deployed or deleted, as it is reported. */
export class DeployError extends Error {
  override name = 'DeployError'
  readonly code: string
  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}

const MOST_PROBLEMS = 10

/** @throws DeployError that names the first problems, if there are any */
export function refuseProblems(code: string, problems: readonly FieldProblem[]): void {
  if (problems.length === 0) return
  const lines = problems.slice(0, MOST_PROBLEMS).map(({ path, message }) => `${path}: ${message}`)
  throw new DeployError(code, lines.join('\n'))
}
