import { hasExpressions } from '../core/expression.ts'
import type { LimitRequest } from '../core/limit-request.ts'
import { LIMITS } from '../core/limits.ts'
import { textProblem } from '../core/portable.ts'
import { isName, NAME_RULE, type Problems } from '../core/problems.ts'
import type { Evaluated } from '../core/tree.ts'

/** Limits that a spec asks for, as the API takes them, and as a spec keeps them. */

export interface LimitRequestInput {
  readonly limit: string
  readonly key?: string | null
  readonly priority?: number | null
}

const MAX_PRIORITY = 100

/** A name, or `project/name` of a limit that another project shares. */
const isLimitName = (text: string): boolean => {
  const parts = text.split('/')
  return parts.length <= 2 && parts.every(isName)
}
const LIMIT_NAME_RULE = `must be the name of a limit, or project/name of one that is shared: each ${NAME_RULE}`

export function normaliseLimits(
  input: readonly LimitRequestInput[],
  path: string,
  problems: Problems,
): readonly LimitRequest[] {
  const requests = input.map(({ limit, key, priority }) => ({ limit, key: key ?? '', ...(priority && { priority }) }))
  const taken = new Set<string>()
  for (const [i, { limit, key, priority = 0 }] of requests.entries()) {
    const problem = textProblem(key)
    if (Math.abs(priority) > MAX_PRIORITY)
      problems.add(`${path}.${i}.priority`, `must be from -${MAX_PRIORITY} to ${MAX_PRIORITY}`)
    if (!isLimitName(limit)) problems.add(`${path}.${i}.limit`, LIMIT_NAME_RULE)
    if (problem) problems.add(`${path}.${i}.key`, problem)
    const both = JSON.stringify([limit, key])
    if (taken.has(both)) problems.add(`${path}.${i}`, 'occurs twice')
    taken.add(both)
  }
  return requests
}

type Resolved =
  | { readonly ok: true; readonly requests: readonly LimitRequest[] }
  | { readonly ok: false; readonly message: string }

/** The requests with their keys as text, each once. Undefined: the values of their expressions are not there yet. */
export function resolveLimits(
  limits: readonly LimitRequest[],
  evaluate: (keys: readonly string[]) => Evaluated | undefined,
): Resolved | undefined {
  const template = limits.map(({ key }) => key)
  if (!hasExpressions(template)) return { ok: true, requests: limits }
  const keys = evaluate(template)
  if (!keys?.ok) return keys
  const requests = new Map<string, LimitRequest>()
  for (const [i, { limit, priority }] of limits.entries()) {
    const value = (keys.value as readonly unknown[])[i] ?? ''
    const key = typeof value === 'string' ? value : JSON.stringify(value)
    const problem =
      key.length > LIMITS.limitKey.max ? `has more than ${LIMITS.limitKey.max} characters` : textProblem(key)
    if (problem) return { ok: false, message: `The key of the limit ${limit} ${problem}.` }
    requests.set(JSON.stringify([limit, key]), { limit, key, ...(priority && { priority }) })
  }
  return { ok: true, requests: [...requests.values()] }
}

/** Without those that another one holds. */
export const without = (requests: readonly LimitRequest[], held: readonly LimitRequest[]): readonly LimitRequest[] =>
  requests.filter(({ limit, key }) => !held.some((other) => other.limit === limit && other.key === key))
