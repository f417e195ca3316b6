import type { Signal } from '../../core/ports/signal.ts'
import type { Logger } from '../../logger.ts'

/** Subscribes in the background. A signal that is down delays nothing, since every listener also polls. */
export function listen(
  signal: Signal,
  channel: string,
  handler: (message: string) => void,
  logger: Logger,
): { close(): Promise<void> } {
  let active: { close(): Promise<void> } | null = null
  let closed = false
  signal
    .subscribe(channel, handler)
    .then((subscription) => {
      active = subscription
      return closed ? subscription.close() : undefined
    })
    .catch((error: unknown) => {
      if (!closed) logger.warn({ err: error, channel }, 'could not subscribe to a channel')
    })
  return {
    async close() {
      closed = true
      await active?.close()
    },
  }
}
