import { setTimeout as delay } from 'node:timers/promises'
import type { Signal } from '../../core/ports/signal.ts'
import { type RedisUrl, readRedisUrl } from '../../core/redis-url.ts'
import type { Logger } from '../../logger.ts'
import { type RedisClient, RedisLink, type RedisRole } from './redis-link.ts'

type Listener = (message: string) => void
/** Interval of attempts to subscribe while Redis is away. */
const RETRY_MS = 50

/**
 * The signal between processes, over Redis. It starts, and stays usable, while Redis is away: messages published then are
 * lost, subscriptions made then begin as soon as Redis is back.
 *
 * @param url as `readRedisUrl` takes it
 */
export function createRedisSignal({ url: text, logger }: { url: string; logger: Logger }): Signal {
  const url = urlOf(text)
  const stop = new AbortController()
  const subscriptions = new Map<string, Set<Listener>>()
  const link = (role: RedisRole, prepare?: (client: RedisClient) => Promise<unknown>) =>
    new RedisLink({ url, role, logger, signal: stop.signal, ...(prepare && { prepare }) })
  const publisher = link('publisher')
  const subscriber = link('subscriber', async (client) => {
    for (const [channel, listeners] of subscriptions)
      for (const listener of listeners) await client.subscribe(channel, listener)
  })

  const subscribe = async (channel: string, listener: Listener): Promise<void> => {
    const listeners = subscriptions.get(channel) ?? new Set()
    subscriptions.set(channel, listeners.add(listener))
    for (;;) {
      stop.signal.throwIfAborted()
      try {
        // Adding the same listener again is harmless, so an attempt whose answer was lost can be repeated.
        if (subscriber.client) return await subscriber.client.subscribe(channel, listener)
      } catch (error) {
        logger.debug({ err: error, channel }, 'SUBSCRIBE failed; trying again.')
      }
      await delay(RETRY_MS, undefined, { signal: stop.signal })
    }
  }
  const unsubscribe = async (channel: string, listener: Listener): Promise<void> => {
    const listeners = subscriptions.get(channel)
    listeners?.delete(listener)
    if (listeners?.size === 0) subscriptions.delete(channel)
    // Without Redis there is nothing to end.
    await subscriber.client?.unsubscribe(channel, listener).catch(() => undefined)
  }

  return {
    get connected() {
      return Boolean(publisher.client?.isReady && subscriber.client?.isReady)
    },
    publish(channel, message) {
      const { client } = publisher
      if (!client?.isReady) return
      client.publish(channel, message).catch((error: unknown) => {
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
          await unsubscribe(channel, listener)
        },
      }
    },
    close() {
      stop.abort()
      return Promise.resolve()
    },
  }
}

function urlOf(text: string): RedisUrl {
  const read = readRedisUrl(text)
  if (!read.ok) throw new TypeError(`REDIS_URL ${read.problem}`)
  return read.url
}
