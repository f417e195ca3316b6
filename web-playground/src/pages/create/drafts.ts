import { useState } from 'react'
import type { Session } from '../../data/session.ts'
import { useSession } from '../../ui/session-context.ts'

/** Typed values that were not sent. They outlive a visit of another page, but neither the tab nor its token. */
const drafts = new WeakMap<Session, Map<string, unknown>>()

/** `initial` wins over a stored draft: a link shows what it names. */
export function useDraft<T>(
  key: string,
  initial: T | null,
  empty: T,
): readonly [value: T, set: (value: T) => void, drop: () => void] {
  const session = useSession()
  const kept = drafts.get(session) ?? new Map<string, unknown>()
  drafts.set(session, kept)
  const [value, setValue] = useState<T>(initial ?? (kept.get(key) as T | undefined) ?? empty)
  const set = (next: T): void => {
    kept.set(key, next)
    setValue(next)
  }
  return [value, set, () => kept.delete(key)]
}
