import { setTimeout as delay } from 'node:timers/promises'
import { createClient } from 'redis'
import type { Signal } from '../../core/ports/signal.ts'
import type { Logger } from '../../logger.ts'

/** Interval of pings on a quiet connection; without an answer it is dropped after `SILENCE_MS`. */
const PING_MS = 5_000
const SILENCE_MS = 15_000
/** Quick at first, for a restart of Redis; then every second, without limit. */
const retryAfter = (attempts: number): number => Math.min(1_000, 20 * 2 ** Math.min(attempts, 6))

/**
 * The signal between processes, over Redis. It starts, and stays usable, while Redis is away: messages published then are
 * lost, subscriptions made then begin as soon as Redis is back.
 *
 * @param url as `redis://[[user][:password]@]host[:port][/db]`, or `rediss:`
 */
export function createRedisSignal({ url, logger }: { url: string; logger: Logger }): Signal {
  const stop = new AbortController()
  const connect = (role: 'publisher' | 'subscriber') => {
    const client = createClient({
      url,
      name: `phaseline-${role}`,
      pingInterval: PING_MS,
      // Messages of an outage are useless afterwards: readers have polled meanwhile.
      disableOfflineQueue: role === 'publisher',
      socket: { connectTimeout: 5_000, socketTimeout: SILENCE_MS, reconnectStrategy: retryAfter },
    })
    let up = true
    client.on('ready', () => {
      if (!up) logger.info({ role }, 'Redis is back.')
      up = true
    })
    client.on('error', (error: Error) => {
      // Once per outage, not once per attempt.
      if (up && !stop.signal.aborted) logger.warn({ role, err: error }, 'Redis is away: polling more often meanwhile.')
      up = false
    })
    client.connect().catch((error: unknown) => {
      if (!stop.signal.aborted) logger.error({ role, err: error }, 'The connection to Redis failed.')
    })
    return client
  }
  const publisher = connect('publisher')
  const subscriber = connect('subscriber')

  const subscribe = async (channel: string, listener: (message: string) => void): Promise<void> => {
    for (;;) {
      stop.signal.throwIfAborted()
      try {
        // Adding the same listener again is harmless, so an attempt whose answer was lost can be repeated.
        return await subscriber.subscribe(channel, listener)
      } catch (error) {
        logger.debug({ err: error, channel }, 'SUBSCRIBE failed; trying again.')
        await delay(50, undefined, { signal: stop.signal })
      }
    }
  }

  return {
    get connected() {
      return publisher.isReady && subscriber.isReady
    },
    publish(channel, message) {
      if (!publisher.isReady) return
      publisher.publish(channel, message).catch((error: unknown) => {
        if (!stop.signal.aborted) logger.debug({ err: error, channel }, 'A signal was lost.')
      })
    },
    async subscribe(channel, handler) {
      let open = true
      const listener = (message: string): void => {
        if (!open) return
        try {
          handler(message)
        } catch (error) {
          logger.error({ err: error, channel }, 'A handler of a signal failed.')
        }
      }
      await subscribe(channel, listener)
      return {
        async close() {
          open = false
          const done = subscriber.unsubscribe(channel, listener).catch(() => undefined)
          // Without Redis the answer may never come; the listener ignores messages already.
          if (subscriber.isReady) await done
        },
      }
    },
    close() {
      stop.abort()
      publisher.destroy()
      subscriber.destroy()
      return Promise.resolve()
    },
  }
}
