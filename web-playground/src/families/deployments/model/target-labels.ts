import type { Pair } from '../../../model/pairs.ts'

/** Labels as they are typed, `region=eu, tier=prod`. Null: one has no key or no `=`. */
export function labelsIn(text: string): readonly Pair[] | null {
  const parts = text.split(',').flatMap((part) => part.trim() || [])
  const pairs = parts.map((part) => ({ at: part.indexOf('='), part }))
  if (pairs.some(({ at }) => at < 1)) return null
  return pairs.map(({ at, part }) => ({ key: part.slice(0, at).trim(), value: part.slice(at + 1).trim() }))
}
