import { type Expression, findExpressions, hasExpressions, unreadable } from '../core/expression.ts'
import type { Problems } from '../core/problems.ts'
import type { Sandbox } from '../sandbox/index.ts'
import type { ExpressionsOf } from '../sandbox/references.ts'

/** Without `whole`, it is no part of a template, but an expression by itself. */
type PlacedExpression = Pick<Expression, 'source' | 'path'> & Partial<Pick<Expression, 'whole' | 'place'>>

/** Expressions of a template, to be parsed. */
export function expressionsOf(template: unknown, path: string, problems: Problems): readonly PlacedExpression[] {
  if (!hasExpressions(template)) return []
  return findExpressions(template).flatMap(({ problem, ...expression }) => {
    const at = [path, expression.path].filter(Boolean).join('.')
    if (problem === undefined) return [{ ...expression, path: at }]
    problems.add(at, problem)
    return []
  })
}

/** Parses them, and adds the problems of those that cannot be read. */
export async function checkExpressions(
  sandbox: Pick<Sandbox, 'analyze'>,
  expressions: readonly PlacedExpression[],
  of: ExpressionsOf,
  problems: Problems,
): Promise<void> {
  const read = await sandbox.analyze(
    expressions.map(({ source }) => source),
    of,
  )
  for (const [i, expression] of expressions.entries()) {
    const found = read[i]
    if (found?.ok) continue
    const message = found?.message ?? 'cannot be read'
    problems.add(expression.path, expression.whole === undefined ? message : unreadable(expression, message))
  }
}
