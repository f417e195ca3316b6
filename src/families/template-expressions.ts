import { findExpressions, hasExpressions } from '../core/expression.ts'
import type { Problems } from '../core/problems.ts'
import type { Sandbox } from '../sandbox/index.ts'
import type { ExpressionsOf } from '../sandbox/references.ts'

interface PlacedExpression {
  readonly source: string
  readonly path: string
}

/** Expressions of a template, to be parsed. */
export function expressionsOf(template: unknown, path: string, problems: Problems): readonly PlacedExpression[] {
  if (!hasExpressions(template)) return []
  return findExpressions(template).flatMap(({ source, path: where, problem }) => {
    const at = [path, where].filter(Boolean).join('.')
    if (problem === undefined) return [{ source, path: at }]
    problems.add(at, problem)
    return []
  })
}

/** Parses them, and adds the problems of those that cannot be read. */
export async function checkExpressions(
  sandbox: Sandbox,
  expressions: readonly PlacedExpression[],
  of: ExpressionsOf,
  problems: Problems,
): Promise<void> {
  const read = await sandbox.analyze(
    expressions.map(({ source }) => source),
    of,
  )
  for (const [i, { path }] of expressions.entries()) {
    const found = read[i]
    if (!found?.ok) problems.add(path, found?.message ?? 'cannot be read')
  }
}
