import { createContext, useContext } from 'react'

/** Why the viewer can create nothing; null: it can. */
export const MayContext = createContext<string | null>(null)
export const useMayNot = (): string | null => useContext(MayContext)
