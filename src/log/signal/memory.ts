import type { Signal } from '../../core/ports/signal.ts'
import type { Logger } from '../../logger.ts'

type Handler = (message: string) => void

/** The signal of a single process: messages are delivered in this process only. */
export function createMemorySignal({ logger }: { logger: Logger }): Signal {
  const channels = new Map<string, Set<Handler>>()
  let closed = false

  const deliver = (channel: string, message: string): void => {
    for (const handler of channels.get(channel) ?? []) {
      try {
        handler(message)
      } catch (error) {
        logger.error({ err: error, channel }, 'A handler of a signal failed.')
      }
    }
  }

  return {
    // Other processes on the same database may exist, but their messages do not arrive here.
    connected: false,
    publish(channel, message) {
      // Deferred, as over a network: publishing never re-enters the publisher.
      if (!closed) queueMicrotask(() => deliver(channel, message))
    },
    subscribe(channel, handler) {
      // One closure per subscription: the same function may subscribe twice.
      const own: Handler = (message) => handler(message)
      const handlers = channels.get(channel) ?? new Set()
      channels.set(channel, handlers.add(own))
      return Promise.resolve({
        close() {
          handlers.delete(own)
          if (handlers.size === 0 && channels.get(channel) === handlers) channels.delete(channel)
          return Promise.resolve()
        },
      })
    },
    close() {
      closed = true
      channels.clear()
      return Promise.resolve()
    },
  }
}
