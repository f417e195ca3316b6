import { type Existing, existingAt, type RootPlace } from '../../data/choices.ts'
import { useLive } from '../../ui/session-context.ts'
import { useSettled } from './use-settled.ts'

/** A pause in typing. */
const TYPED_MS = 250

/** What is at that place; null until that is known. */
export function useExisting(place: RootPlace): { readonly existing: Existing | null } | null {
  const wanted = `${place.project}/${place.name}`
  const settled = useSettled(wanted, TYPED_MS)
  const store = useLive(settled, (session, signal) => existingAt(session, place, signal))
  return settled === wanted ? (store?.answer ?? null) : null
}
