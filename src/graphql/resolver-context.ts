import type { Viewer } from '../core/ports/viewer.ts'
import { readerOf } from '../core/rights.ts'
import { asPool, OperationReads } from '../store/operation-reads.ts'
import type { GraphQLContext, OperationServices } from './context.ts'
import type { KindRegistry } from './family.ts'
import { AnswerBudget } from './schema/answer-budget.ts'

/** The services that the schema needs. */
export interface GraphQLServices extends OperationServices {
  readonly kinds: KindRegistry
}

/** The context of the resolvers: an operation, and the families whose objects it may read. */
export interface ResolverContext extends GraphQLContext {
  readonly kinds: KindRegistry
}

export const createContext = (
  services: GraphQLServices,
  viewer: Viewer,
  { signal, answer = new AnswerBudget() }: Partial<Pick<ResolverContext, 'signal' | 'answer'>> = {},
): ResolverContext => ({
  ...services,
  pool: asPool(new OperationReads(services.pool, { caller: readerOf(viewer) })),
  viewer,
  signal,
  answer,
  cache: new Map(),
})
