import type { Refusal } from 'phaseline/client-model'
import { useEffect, useState } from 'react'
import { useSettled } from '../../../pages/create/use-settled.ts'
import { useLive } from '../../../ui/session-context.ts'
import { type Existing, existingAt, type Place } from '../data.ts'

/** Milliseconds of a pause in typing. */
const TYPED_MS = 250
/** Codes of a lost race with another client. */
const OVERTAKEN = ['ALREADY_EXISTS', 'GENERATION_MISMATCH', 'NOT_FOUND']

/** The installation of that name; null until it is read, and again after a refusal that shows that it has changed. */
export function useExisting(place: Place, refused: Refusal | null): { readonly existing: Existing | null } | null {
  const wanted = `${place.project}/${place.name}`
  const settled = useSettled(wanted, TYPED_MS)
  const [times, setTimes] = useState(0)
  const store = useLive(`${settled} ${times}`, (session, signal) => existingAt(session, place, signal))
  useEffect(() => {
    if (refused && OVERTAKEN.includes(refused.code)) setTimes((now) => now + 1)
  }, [refused])
  return settled === wanted ? (store?.answer ?? null) : null
}
