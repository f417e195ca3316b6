import { type ComponentType, type LazyExoticComponent, lazy } from 'react'
import { loadPart } from '../data/load-part.ts'

/** A component in a file of its own, which is loaded when it is first drawn. */
// biome-ignore lint/suspicious/noExplicitAny: as React itself declares it, so that all properties are possible
export const lazyPart = <C extends ComponentType<any>>(load: () => Promise<{ default: C }>): LazyExoticComponent<C> =>
  lazy(() => loadPart(load))
