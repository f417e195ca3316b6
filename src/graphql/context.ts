import type { Pool } from 'pg'
import type { AgentPort } from '../core/ports/agents.ts'
import type { Log } from '../core/ports/log.ts'
import type { System } from '../core/ports/system.ts'
import type { Viewer } from '../core/ports/viewer.ts'
import type { Logger } from '../logger.ts'
import type { Tokens } from './auth/tokens.ts'
import type { KindRegistry } from './family.ts'
import type { Live } from './log/live.ts'
import type { OpenStreams } from './log/open-streams.ts'

/** What families bring along for their own resolvers; each adds its part by declaration merging. */
// biome-ignore lint/suspicious/noEmptyInterface: families merge into it
export interface FamilyServices {}

/** What all requests share. */
export interface GraphQLServices extends FamilyServices {
  readonly pool: Pool
  readonly log: Log
  readonly agents: AgentPort
  readonly system: System
  readonly kinds: KindRegistry
  readonly live: Live
  readonly streams: OpenStreams
  readonly tokens: Tokens
  readonly logger: Logger
}

/** One operation by one viewer. */
export interface GraphQLContext extends GraphQLServices {
  readonly viewer: Viewer
  /** Aborts when nobody waits for the answer any more; absent where that is not known. */
  readonly signal?: AbortSignal | undefined
  /** What has been read for this operation so far. */
  readonly cache: Map<object, unknown>
}

export const createContext = (services: GraphQLServices, viewer: Viewer, signal?: AbortSignal): GraphQLContext => ({
  ...services,
  viewer,
  signal,
  cache: new Map(),
})

/** Something made once for each operation, such as a loader. */
export function perOperation<T>(create: (context: GraphQLContext) => T): (context: GraphQLContext) => T {
  const key = {}
  return (context) => {
    const existing = context.cache.get(key)
    if (existing !== undefined) return existing as T
    const created = create(context)
    context.cache.set(key, created)
    return created
  }
}

/** What was read before something was written, or before the next event of a subscription, holds no more. */
export const forget = (context: GraphQLContext): void => context.cache.clear()
