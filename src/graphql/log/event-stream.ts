import { GraphQLError } from 'graphql'
import { AuditCursorExpired } from '../../core/ports/audit.ts'
import { CursorExpired } from '../../core/ports/log.ts'
import { forget, type GraphQLContext } from '../context.ts'
import { auditCursorExpired, cursorExpired, databaseFailure, internalFailure } from '../schema/failures.ts'

/**
 * An event of a subscription: a value, or, as its last, the reason why it cannot continue. At any moment, events of one
 * operation with the same key have the same result.
 */
export type StreamEvent<T> = { readonly value: T; readonly key?: string } | { readonly failure: GraphQLError }

/** Throws a failure in the resolver of the field, so that WebSocket and SSE send it in the same form. */
export function unpack<T>(event: StreamEvent<T>): T {
  if ('failure' in event) throw event.failure
  return event.value
}

/** The source of a subscription that is not shared with others. */
export interface EventStream<T> extends AsyncIterableIterator<StreamEvent<T>> {
  /** The tree, object or project that it follows; empty: more than one of these. */
  readonly place: string
}
interface Shape<T> {
  readonly keyOf?: (value: T) => string
  readonly place?: string
}

/**
 * Runs the source of a subscription. A subscriber that leaves aborts it at once, even while it waits; a plain async
 * generator would notice only at its next event.
 */
export function eventStream<T>(
  context: GraphQLContext,
  run: (signal: AbortSignal) => AsyncIterable<T>,
  { keyOf, place = '' }: Shape<T> = {},
): EventStream<T> {
  const controller = new AbortController()
  // Starts before the first event is requested, so that "live from now on" means now.
  const events = follow(context, run(controller.signal), controller.signal, keyOf)
  return {
    place,
    next: () => events.next(),
    async return() {
      controller.abort()
      return await events.return(undefined)
    },
    [Symbol.asyncIterator]() {
      return this
    },
  }
}

async function* follow<T>(
  context: GraphQLContext,
  source: AsyncIterable<T>,
  signal: AbortSignal,
  keyOf?: (value: T) => string,
): AsyncGenerator<StreamEvent<T>, undefined> {
  try {
    for await (const value of source) {
      // Each event reads the present state, not that of an earlier event.
      forget(context)
      yield keyOf ? { value, key: keyOf(value) } : { value }
    }
  } catch (error) {
    if (!signal.aborted) yield { failure: await failureOf(error, context) }
  }
  return undefined
}

/** The error with which a stream ends that cannot continue. */
export async function failureOf(error: unknown, { logger, log }: GraphQLContext): Promise<GraphQLError> {
  if (error instanceof CursorExpired) return await cursorExpired(error, log).catch(internalFailure)
  if (error instanceof AuditCursorExpired) return auditCursorExpired(error)
  if (error instanceof GraphQLError) return error
  const unavailable = databaseFailure(error)
  if (unavailable) return unavailable
  logger.error({ err: error }, 'a subscription failed')
  return internalFailure()
}
