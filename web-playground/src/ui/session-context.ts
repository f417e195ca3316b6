import { createContext, useContext, useEffect, useState, useSyncExternalStore } from 'react'
import type { Session } from '../data/session.ts'
import type { Store } from '../data/store.ts'

export const SessionContext = createContext<Session | null>(null)

export function useSession(): Session {
  const session = useContext(SessionContext)
  if (!session) throw new Error('there is no session')
  return session
}

/** A store that lives as long as the component shows the same object; null in the first render. */
export function useLive<S extends Store>(what: string, make: (session: Session, signal: AbortSignal) => S): S | null {
  const session = useSession()
  const [store, setStore] = useState<S | null>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: `what` says when there is something else to be made
  useEffect(() => {
    const stop = new AbortController()
    setStore(make(session, stop.signal))
    return () => {
      stop.abort()
      setStore(null)
    }
  }, [session, what])
  useSyncExternalStore(store?.watch ?? watchNothing, store?.version ?? zero)
  return store
}
const watchNothing = (): (() => void) => () => undefined
const zero = (): number => 0
