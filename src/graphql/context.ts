import type { Pool } from 'pg'
import type { ServerFacts } from '../core/judge-causes.ts'
import type { AgentPort } from '../core/ports/agents.ts'
import type { AuditPort } from '../core/ports/audit.ts'
import type { Log } from '../core/ports/log.ts'
import type { Figures } from '../core/ports/measured.ts'
import type { System } from '../core/ports/system.ts'
import type { Viewer } from '../core/ports/viewer.ts'
import { readerOf } from '../core/rights.ts'
import type { Logger } from '../logger.ts'
import { asOfOneMoment, asPool, type LiveReader, OperationReads, poolItself } from '../store/operation-reads.ts'
import type { ReadReplica } from '../store/read-replica.ts'
import type { Records } from '../store/records.ts'
import type { Tokens } from './auth/tokens.ts'
import type { Live } from './log/live.ts'
import type { OpenStreams } from './log/open-streams.ts'
import type { AnswerBudget } from './schema/answer-budget.ts'

/** Services of the families for their own resolvers; each family adds its part by declaration merging. */
// biome-ignore lint/suspicious/noEmptyInterface: families merge into it
export interface FamilyServices {}

/** Services that all operations share. */
export interface OperationServices extends FamilyServices {
  readonly pool: Pool
  readonly records: Records
  /** For queries; absent: all reads go to the primary. */
  readonly replica?: ReadReplica | undefined
  readonly log: Log
  readonly agents: AgentPort
  readonly system: System
  readonly live: Live
  readonly streams: OpenStreams
  readonly tokens: Tokens
  readonly audit: AuditPort
  /** Never rejects, and is bounded in time. */
  readonly figures: () => Promise<Figures>
  /** How this process is. Never rejects, and is bounded in time. */
  readonly server: () => Promise<ServerFacts>
  readonly logger: Logger
}

/** One operation by one viewer. */
export interface GraphQLContext extends OperationServices {
  readonly viewer: Viewer
  /** Aborts when the caller is gone; absent if the transport cannot detect it. */
  readonly signal?: AbortSignal | undefined
  /** The rest of the answer's budget. */
  readonly answer: AnswerBudget
  /** Everything that the operation has read so far. */
  readonly cache: Map<object, unknown>
}

/** From now on the operation reads so that its statements can be ended in Postgres: call what is returned. */
export function readEndably(context: GraphQLContext): () => void {
  const { pool, replica, viewer } = context
  const reads = new OperationReads(poolItself(pool), { caller: readerOf(viewer), replica })
  Object.assign(context, { pool: asPool(reads) })
  return () => reads.end()
}

/**
 * Reads for the operation again, all of it as of one moment. The log has everything by then that was committed before, since it is numbered
 * in other transactions.
 */
export async function readAgain<T>(context: GraphQLContext, run: () => Promise<T>): Promise<T> {
  forget(context)
  context.answer.refill()
  await context.log.caughtUp()
  return await asOfOneMoment(context.pool, run)
}

/** From now on the operation reads with the live reads of a caller who follows it; null: as any other operation. */
export function readLive(context: GraphQLContext, live: () => LiveReader | null): void {
  const { pool, viewer } = context
  Object.assign(context, { pool: asPool(new OperationReads(poolItself(pool), { caller: readerOf(viewer), live })) })
}

/** The context of one event of a subscription, which is an answer of its own. */
export const contextOfEvent = (context: GraphQLContext): GraphQLContext =>
  Object.assign(Object.create(context) as GraphQLContext, { answer: context.answer.renew() })

/** Makes a value, such as a loader, once for each operation. */
export function perOperation<T, Context extends GraphQLContext = GraphQLContext>(
  create: (context: Context) => T,
): (context: Context) => T {
  const key = {}
  return (context) => {
    const existing = context.cache.get(key)
    if (existing !== undefined) return existing as T
    const created = create(context)
    context.cache.set(key, created)
    return created
  }
}

/** Drops everything that was read before a write, or before the next event of a subscription. */
export const forget = (context: GraphQLContext): void => context.cache.clear()
