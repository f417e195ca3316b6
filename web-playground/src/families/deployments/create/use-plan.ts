import type { Outcome } from 'phaseline/client-model'
import { useEffect, useMemo, useState } from 'react'
import { useSession } from '../../../ui/session-context.ts'
import { planInstallation } from '../data.ts'
import type { Plan } from '../model/plan.ts'

export interface Planned {
  /** The input of this answer, as JSON. */
  readonly of: string
  readonly outcome: Outcome<Plan>
}
/** Milliseconds of a pause in typing. */
const TYPED_MS = 350

/** The server's plan for the input. A changed input is queried again; the last answer is shown meanwhile. */
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
