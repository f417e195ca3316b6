import { LIMITS } from '../../../core/limits.ts'
import { textProblem } from '../../../core/portable.ts'
import type { Problems } from '../../../core/problems.ts'

export interface RateInput {
  readonly count: number
  readonly perMs: number
}
export interface WeightInput {
  readonly key: string
  readonly weight: number
}
/** Bounds of a key. */
export interface KeyBoundsInput {
  readonly maxPerKey?: number | null
  readonly rate?: RateInput | null
}
/** How a limit treats workers and jobs of a key when a newer one comes. */
export type LimitStrategy = 'QUEUE' | 'LATEST_ONLY' | 'CANCEL_RUNNING' | 'SKIP'
export interface LimitInput extends KeyBoundsInput {
  readonly description?: string | null
  readonly max?: number | null
  readonly weights?: readonly WeightInput[] | null
  readonly strategy?: LimitStrategy | null
  readonly debounceMs?: number | null
  readonly shared?: boolean | null
}
export interface KeyBounds {
  /** Null: none. */
  readonly maxPerKey: number | null
  /** So many starts in any time as long as that; null: any number. */
  readonly rateCount: number | null
  readonly rateMs: number | null
}
export interface LimitSettings extends KeyBounds {
  readonly description: string
  /** Null: none; at least one of the bounds is there. */
  readonly max: number | null
  /** The weights of keys; the others have 1. */
  readonly weights: Readonly<Record<string, number>>
  readonly strategy: LimitStrategy
  /** A worker or job starts once no newer one has come for so long; null: at once. */
  readonly debounceMs: number | null
  /** Objects of other projects may ask for it. */
  readonly isShared: boolean
}

const MOST = 100_000
const MAX_RATE = 10_000
const RATE_MS = { from: 1_000, to: 7 * 24 * 60 * 60 * 1_000 }
const MAX_WEIGHT = 100
const DEBOUNCE_MS = { from: 100, to: 24 * 60 * 60 * 1_000 }
const OVERRIDE_MS = { from: 1_000, to: 24 * 24 * 60 * 60 * 1_000 }

const check = (problems: Problems, path: string, value: number | null, { from, to }: { from: number; to: number }) => {
  if (value !== null && !(Number.isInteger(value) && value >= from && value <= to))
    problems.add(`input.${path}`, `must be from ${from} to ${to}`)
}

function boundsOf({ maxPerKey = null, rate = null }: KeyBoundsInput, least: number, problems: Problems): KeyBounds {
  check(problems, 'maxPerKey', maxPerKey, { from: least, to: MOST })
  check(problems, 'rate.count', rate?.count ?? null, { from: 1, to: MAX_RATE })
  check(problems, 'rate.perMs', rate?.perMs ?? null, RATE_MS)
  return { maxPerKey, rateCount: rate?.count ?? null, rateMs: rate?.perMs ?? null }
}

export function normaliseLimit(input: LimitInput, problems: Problems): LimitSettings {
  const { description, max = null, weights, debounceMs = null } = input
  const isShared = input.shared ?? false
  const strategy = input.strategy ?? 'QUEUE'
  check(problems, 'max', max, { from: 1, to: MOST })
  const bounds = boundsOf(input, 1, problems)
  if (max === null && bounds.maxPerKey === null && bounds.rateCount === null && strategy === 'QUEUE')
    problems.add('input', 'must have max, maxPerKey, rate, or a strategy other than QUEUE')
  check(problems, 'debounceMs', debounceMs, DEBOUNCE_MS)
  if (debounceMs !== null && strategy !== 'LATEST_ONLY' && strategy !== 'CANCEL_RUNNING')
    problems.add('input.debounceMs', 'takes the strategy LATEST_ONLY or CANCEL_RUNNING')
  // An object of one project would end those of others, and name them.
  if (isShared && strategy !== 'QUEUE') problems.add('input.shared', 'takes the strategy QUEUE')
  const taken = new Map<string, number>()
  for (const [i, { key, weight }] of (weights ?? []).entries()) {
    checkKey(problems, `weights.${i}.key`, key)
    check(problems, `weights.${i}.weight`, weight, { from: 1, to: MAX_WEIGHT })
    if (taken.has(key)) problems.add(`input.weights.${i}.key`, 'occurs twice')
    taken.set(key, weight)
  }
  const weightsOf = Object.fromEntries(taken)
  return { description: description ?? '', max, ...bounds, weights: weightsOf, strategy, debounceMs, isShared }
}

function checkKey(problems: Problems, path: string, key: string): void {
  const problem =
    key.length > LIMITS.limitKey.max ? `has more than ${LIMITS.limitKey.max} characters` : textProblem(key)
  if (problem) problems.add(`input.${path}`, problem)
}

export interface OverrideInput extends KeyBoundsInput {
  readonly key?: string | null
  readonly ttlMs?: number | null
}
export interface Override extends KeyBounds {
  readonly key: string
  readonly ttlMs: number
}

/** Null: the bounds of the limit apply to the key again. */
export function normaliseOverride(
  input: OverrideInput,
  problems: Problems,
): { key: string; override: Override | null } {
  const { key, ttlMs } = input
  checkKey(problems, 'key', key ?? '')
  const bounds = boundsOf(input, 0, problems)
  const isGiven = bounds.maxPerKey !== null || bounds.rateCount !== null
  if (isGiven && (ttlMs ?? null) === null) problems.add('input.ttlMs', 'must be there: an override ends by itself')
  check(problems, 'ttlMs', isGiven ? (ttlMs ?? null) : null, OVERRIDE_MS)
  return { key: key ?? '', override: isGiven ? { key: key ?? '', ...bounds, ttlMs: ttlMs ?? 0 } : null }
}
