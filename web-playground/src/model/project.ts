export interface ProjectRow {
  readonly name: string
  readonly workerTemplate: object | null
  readonly subscriptions: readonly object[]
  readonly secrets: readonly object[]
}
export interface Pair {
  readonly key: string
  readonly value: string
}
export interface EventSubscription {
  readonly source: string
  readonly types: readonly string[]
  readonly labels: readonly Pair[]
  readonly qualifiers: readonly Pair[]
  readonly task: unknown
}
export interface Limits {
  readonly maxWorkers: number | null
  readonly maxJobs: number | null
  readonly strategy: Strategy
}
export const STRATEGIES = ['QUEUE', 'LATEST_ONLY'] as const
export type Strategy = (typeof STRATEGIES)[number]
export const STRATEGY_WORDS: Readonly<Record<Strategy, string>> = {
  QUEUE: 'Queue: every event has its turn',
  LATEST_ONLY: 'Latest only: a newer event takes the place of those that wait',
}

/** Names that an environment variable may have. */
export const SECRET_NAME = '[A-Za-z_][A-Za-z0-9_]*'

/** The conditions of a subscription in words, e.g. `tags of github/shop` has type `push`, only with `env=prod`. */
export function conditionsOf({ types, labels, qualifiers }: EventSubscription): string {
  const named = types.includes('*') ? 'of any type' : `of type ${types.join(' or ')}`
  const rest = [...qualifiers, ...labels].map(({ key, value }) => `${key}=${value}`)
  return rest.length === 0 ? named : `${named}, with ${rest.join(', ')}`
}

/** A limit from its field: null when the field is empty, undefined when it has no number. */
export function limitOf(text: string): number | null | undefined {
  if (text.trim() === '') return null
  return /^\d{1,6}$/.test(text.trim()) ? Number(text) : undefined
}
