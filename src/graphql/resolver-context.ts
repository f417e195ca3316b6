import type { Viewer } from '../core/ports/viewer.ts'
import type { GraphQLContext, OperationServices } from './context.ts'
import type { KindRegistry } from './family.ts'

/** What the schema needs to run. */
export interface GraphQLServices extends OperationServices {
  readonly kinds: KindRegistry
}

/** The context of the resolvers: an operation, and the families whose objects it may read. */
export interface ResolverContext extends GraphQLContext {
  readonly kinds: KindRegistry
}

export const createContext = (services: GraphQLServices, viewer: Viewer, signal?: AbortSignal): ResolverContext => ({
  ...services,
  viewer,
  signal,
  cache: new Map(),
})
