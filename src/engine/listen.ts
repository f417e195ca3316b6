import type { Logger } from 'pino'
import type { Signal } from '../core/ports/signal.ts'

/** Hears what it can as soon as it can: a signal that is down delays nothing, whoever listens looks for itself too. */
export function listen(
  signal: Signal,
  channel: string,
  handler: (message: string) => void,
  logger: Logger,
): { close(): Promise<void> } {
  let heard: { close(): Promise<void> } | null = null
  let closed = false
  signal
    .subscribe(channel, handler)
    .then((subscription) => {
      heard = subscription
      return closed ? subscription.close() : undefined
    })
    .catch((error: unknown) => {
      if (!closed) logger.warn({ err: error, channel }, 'nothing is heard on a channel')
    })
  return {
    async close() {
      closed = true
      await heard?.close()
    },
  }
}
