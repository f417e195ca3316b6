import type { GraphQLServices } from './context.ts'
import { createKindRegistry, type GraphQLFamily } from './family.ts'
import { createLive } from './live.ts'
import { createTokens } from './tokens.ts'

/** What the caller has, and which families there are; the rest is made here. */
export type ServiceParts = Omit<GraphQLServices, 'kinds' | 'live' | 'tokens'> & {
  readonly families: readonly GraphQLFamily[]
}

/** What all requests of a process share. */
export function createServices({ families, ...parts }: ServiceParts): GraphQLServices {
  return {
    ...parts,
    kinds: createKindRegistry(families),
    live: createLive(parts.pool),
    tokens: createTokens(parts.pool, parts.ambient),
  }
}
