import type { FieldProblem } from '../../../../core/errors.ts'
import { DeployError } from '../deploy-error.ts'

const MOST_PROBLEMS = 10

/** @throws DeployError that names the first problems, if there are any */
export function refuseProblems(code: string, problems: readonly FieldProblem[]): void {
  if (problems.length === 0) return
  const lines = problems.slice(0, MOST_PROBLEMS).map(({ path, message }) => `${path}: ${message}`)
  throw new DeployError(code, lines.join('\n'))
}
