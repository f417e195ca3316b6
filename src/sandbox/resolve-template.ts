import type { CelInput } from '@bufbuild/cel'
import { parseText, placed, placesIn, plainKey, TEMPLATE_LIMITS } from '../core/expression.ts'
import { compile } from './compile.ts'
import { Refused } from './environment.ts'
import { LIMITS } from './limits.ts'
import { Budget, toInput, toJsonValue } from './values.ts'

/** The values that expressions may use, converted once for all templates that share them. */
export interface Scope {
  /** Root names go to CEL as properties of this object, so it has no prototype: `constructor` is not a name. */
  readonly values: Record<string, CelInput>
  readonly json: Record<string, unknown>
}

export function scopeOf(json: Record<string, unknown>): Scope {
  const values: Scope['values'] = Object.create(null)
  for (const [name, value] of Object.entries(json)) values[name] = toInput(value)
  return { values, json }
}

interface Run {
  readonly scope: Scope
  readonly budget: Budget
  /** Characters of expressions so far. */
  source: number
}

/** Replaces every expression of a template by its result. Throws Refused, with the path of the expression. */
export function resolveTemplate(template: unknown, scope: Scope): unknown {
  return resolveAt(template, [], { scope, budget: new Budget(), source: 0 })
}

function resolveAt(value: unknown, path: readonly string[], run: Run): unknown {
  if (path.length > TEMPLATE_LIMITS.depth) throw at(path, `it is nested more than ${TEMPLATE_LIMITS.depth} levels deep`)
  if (typeof value === 'string') return resolveText(value, path, run)
  run.budget.spend(1)
  if (Array.isArray(value)) return value.map((item, i) => resolveAt(item, [...path, String(i)], run))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => {
      run.budget.spend(key.length + 3)
      // A spec of an older version may have an expression in a key, which stays as it is.
      return [plainKey(key) ?? key, resolveAt(item, [...path, key], run)]
    }),
  )
}

function resolveText(text: string, path: readonly string[], run: Run): unknown {
  const parsed = parseText(text)
  if (!parsed.ok) throw at(path, parsed.message)
  const { whole } = parsed
  const values = parsed.parts.map((part) => {
    if (typeof part !== 'string')
      return evaluate({ ...part, whole }, run, (message) =>
        at(path, whole ? message : placed(placesIn(text)(part.at), message)),
      )
    run.budget.spend(part.length)
    return part
  })
  if (whole) return values[0]
  return values.map((value) => (typeof value === 'string' ? value : JSON.stringify(value))).join('')
}

interface Part {
  readonly source: string
  /** It yields the value itself. */
  readonly whole: boolean
}

function evaluate({ source, whole }: Part, run: Run, refused: (message: string) => Refused): unknown {
  run.source += source.length
  if (run.source > LIMITS.source) throw refused(`all expressions together are longer than ${LIMITS.source} characters`)
  try {
    const program = compile(source)
    for (const [root = ''] of program.references) {
      if (!(root in run.scope.values)) throw new Refused(`${root} is not known here`)
    }
    // It is JSON already, which costs nothing to pass on. CEL has the error of a member that is not there.
    const found = whole && program.path ? memberAt(run.scope.json, program.path) : undefined
    return found === undefined ? toJsonValue(program.run(run.scope.values), run.budget) : found
  } catch (error) {
    if (error instanceof Refused) throw refused(error.message)
    throw error
  }
}

const memberAt = (json: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>(
    (found, key) =>
      typeof found === 'object' && found !== null && !Array.isArray(found) && Object.hasOwn(found, key)
        ? (found as Readonly<Record<string, unknown>>)[key]
        : undefined,
    json,
  )

function at(path: readonly string[], message: string): Refused {
  return new Refused(path.length > 0 ? `${path.join('.')}: ${message}` : message)
}
