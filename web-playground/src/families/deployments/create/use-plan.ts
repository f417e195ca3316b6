import { useEffect, useMemo, useState } from 'react'
import type { Outcome } from '../../../model/refusal.ts'
import { useSession } from '../../../ui/session-context.ts'
import { planInstallation } from '../data.ts'
import type { Plan } from '../model/plan.ts'

export interface Planned {
  /** The input that it is the answer for, written out. */
  readonly of: string
  readonly outcome: Outcome<Plan>
}
/** A pause in typing. */
const TYPED_MS = 350

/** What the server would do with the input, asked again when it is another one; the last answer is kept meanwhile. */
export function usePlan(input: object | null, basis: string): { planned: Planned | null; key: string | null } {
  const { client } = useSession()
  const [planned, setPlanned] = useState<Planned | null>(null)
  const written = useMemo(() => (input ? JSON.stringify(input) : null), [input])
  const key = written === null ? null : `${written} ${basis}`
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key says all of it
  useEffect(() => {
    if (written === null || key === null) return
    const stop = new AbortController()
    const timer = setTimeout(() => {
      planInstallation(client, JSON.parse(written), stop.signal).then(
        (outcome) => stop.signal.aborted || setPlanned({ of: key, outcome }),
        () => undefined,
      )
    }, TYPED_MS)
    return () => {
      clearTimeout(timer)
      stop.abort()
    }
  }, [client, key])
  return { planned, key }
}
