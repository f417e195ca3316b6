import { type CelInput, type CelValue, isCelError, parse, plan } from '@bufbuild/cel'
import { environment, Refused } from './environment.ts'
import { explain } from './explain.ts'
import { type Inspection, InspectionError, inspect } from './inspect.ts'
import { LIMITS } from './limits.ts'

export interface Program extends Inspection {
  /** Throws Refused, with a message without values. */
  readonly run: (scope: Record<string, CelInput>) => CelValue
}

/** All objects of a tree share a few templates. Large sources are not worth caching. */
const CACHE = { entries: 1_000, source: 2_000 } as const
const cache = new Map<string, Program>()

/** Parses, measures and plans one expression. Throws Refused. */
export function compile(source: string): Program {
  const known = cache.get(source)
  if (known) return known
  const program = compileAnew(source)
  if (source.length <= CACHE.source) {
    const oldest = cache.size >= CACHE.entries ? cache.keys().next().value : undefined
    if (oldest !== undefined) cache.delete(oldest)
    cache.set(source, program)
  }
  return program
}

function compileAnew(source: string): Program {
  if (source.length > LIMITS.source) throw new Refused(`the expression is longer than ${LIMITS.source} characters`)
  if (source.trim() === '') throw new Refused('the expression is empty')
  const { expr, sourceInfo } = parsed(source)
  if (!expr) throw new Refused('the expression is empty')
  const inspection = inspected(expr)
  const evaluate = plan(environment, expr)
  return {
    ...inspection,
    run: (scope) => {
      const value = evaluate(scope)
      if (!isCelError(value)) return value
      const at = sourceInfo?.positions[String(value.exprId)]
      const problem = explain(value, { ...inspection, scope })
      throw new Refused(at === undefined ? problem : `${problem} (character ${at + 1} of the expression)`)
    },
  }
}

function parsed(source: string): ReturnType<typeof parse> {
  try {
    return parse(source)
  } catch (error) {
    if (error instanceof RangeError) throw new Refused('the expression is nested too deep')
    const at = offsetOf(error)
    throw new Refused(`the expression has a syntax error${at === null ? '' : ` near character ${at + 1}`}`)
  }
}

/** The parser's error has a location, but its type is not exported. */
function offsetOf(error: unknown): number | null {
  if (typeof error !== 'object' || error === null || !('location' in error)) return null
  const { start } = error.location as { start?: { offset?: number } }
  return start?.offset ?? null
}

function inspected(expr: NonNullable<ReturnType<typeof parse>['expr']>): Inspection {
  try {
    return inspect(expr)
  } catch (error) {
    if (error instanceof InspectionError) throw new Refused(`the expression is refused: ${error.message}`)
    throw error
  }
}
