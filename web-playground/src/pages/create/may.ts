import { createContext, useContext } from 'react'

/** Why the viewer may create nothing; null: the viewer may. */
export const MayContext = createContext<string | null>(null)
export const useMayNot = (): string | null => useContext(MayContext)
