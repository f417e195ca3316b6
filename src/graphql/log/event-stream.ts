import { GraphQLError } from 'graphql'
import { CursorExpired } from '../../core/ports/log.ts'
import { forget, type GraphQLContext } from '../context.ts'
import { cursorExpired, internalFailure } from '../schema/failures.ts'

/**
 * What a subscription yields: a value, or at its end the reason why it cannot go on. Events of the same operation with
 * the same key look the same in the same moment.
 */
export type StreamEvent<T> = { readonly value: T; readonly key?: string } | { readonly failure: GraphQLError }

/** For the field's resolver: a failure becomes the event's error, so that WebSocket and SSE tell it alike. */
export function unpack<T>(event: StreamEvent<T>): T {
  if ('failure' in event) throw event.failure
  return event.value
}

/**
 * Runs the source of a subscription. Whoever stops listening aborts it at once, even while it waits; a plain async
 * generator would only notice at its next event.
 */
export function eventStream<T>(
  context: GraphQLContext,
  run: (signal: AbortSignal) => AsyncIterable<T>,
  keyOf?: (value: T) => string,
): AsyncIterableIterator<StreamEvent<T>> {
  const controller = new AbortController()
  // Called at once, not with the first event: "from now on" is now.
  const events = follow(context, run(controller.signal), controller.signal, keyOf)
  return {
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
      // Each event sees the present, not what an earlier one has read.
      forget(context)
      yield keyOf ? { value, key: keyOf(value) } : { value }
    }
  } catch (error) {
    if (!signal.aborted) yield { failure: await failureOf(error, context) }
  }
  return undefined
}

/** What a subscriber is told when its stream cannot go on. */
export async function failureOf(error: unknown, { logger, log }: GraphQLContext): Promise<GraphQLError> {
  if (error instanceof CursorExpired) return await cursorExpired(error, log).catch(internalFailure)
  if (error instanceof GraphQLError) return error
  logger.error({ err: error }, 'a subscription failed')
  return internalFailure()
}
