import { readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { createClient } from 'redis'
import type { RedisPlace, RedisUrl } from '../../core/redis-url.ts'
import type { Logger } from '../../logger.ts'

/** Interval of pings on a quiet connection; without an answer it is dropped after `SILENCE_MS`. */
const PING_MS = 5_000
const SILENCE_MS = 15_000
const CONNECT_MS = 5_000
/** Quick at first, for a restart of Redis; then every second, without limit. */
const retryAfter = (attempts: number): number => Math.min(1_000, 20 * 2 ** Math.min(attempts, 6))

export type RedisRole = 'publisher' | 'subscriber'
interface LinkOptions {
  readonly url: RedisUrl
  readonly role: RedisRole
  readonly logger: Logger
  readonly signal: AbortSignal
  /** Runs first on each new connection. */
  prepare?(client: RedisClient): Promise<unknown>
}
export type RedisClient = ReturnType<typeof createClient>

/**
 * One connection to Redis at a time: to the server, to the one that Sentinels name, or to any node of a cluster, since
 * each node has all messages. When it ends, the link connects again.
 */
export class RedisLink {
  readonly #options: LinkOptions
  #client: RedisClient | null = null
  #isUp = true
  #turn = 0

  constructor(options: LinkOptions) {
    this.#options = options
    void this.#run()
  }

  /** Null: there is no connection. */
  get client(): RedisClient | null {
    return this.#client
  }

  async #run(): Promise<void> {
    const { signal } = this.#options
    for (let attempts = 0; !signal.aborted; attempts++) {
      try {
        const client = await this.#open()
        attempts = 0
        await ended(client, signal)
        if (!signal.aborted) this.#tellAway(new Error('the connection ended'))
      } catch (error) {
        this.#tellAway(error)
      } finally {
        this.#client = null
        this.#turn += 1
      }
      await delay(retryAfter(attempts), undefined, { signal }).catch(() => undefined)
    }
  }

  async #open(): Promise<RedisClient> {
    const { url, role, signal, prepare } = this.#options
    const place = url.kind === 'sentinel' ? await this.#askSentinels() : placeAt(url, this.#turn)
    const client = await this.#dial(place, url.login, `phaseline-${role}`)
    try {
      if (url.database > 0) await client.select(url.database)
      if (url.kind === 'sentinel') await requirePrimary(client)
      await prepare?.(client)
      signal.throwIfAborted()
    } catch (error) {
      client.destroy()
      throw error
    }
    this.#client = client
    if (!this.#isUp) this.#options.logger.info({ role }, 'Redis is back.')
    this.#isUp = true
    return client
  }

  /** Each of them knows it; one that is away is passed over. */
  async #askSentinels(): Promise<RedisPlace> {
    const { url } = this.#options
    let failure: unknown = new Error('no Sentinel answers')
    for (let i = 0; i < url.places.length; i++) {
      try {
        const client = await this.#dial(placeAt(url, this.#turn + i), url.sentinelLogin, 'phaseline')
        try {
          const answer = await client.sendCommand(['SENTINEL', 'get-master-addr-by-name', url.primaryName])
          if (Array.isArray(answer)) return { host: String(answer[0]), port: Number(answer[1]) }
          failure = new Error('the Sentinels know no server of that name')
        } finally {
          client.destroy()
        }
      } catch (error) {
        failure = error
      }
    }
    throw failure
  }

  async #dial({ host, port }: RedisPlace, login: RedisUrl['login'], name: string): Promise<RedisClient> {
    const { url, role, signal } = this.#options
    signal.throwIfAborted()
    const times = { connectTimeout: CONNECT_MS, socketTimeout: SILENCE_MS, reconnectStrategy: false as const }
    const client: RedisClient = createClient({
      ...login,
      name,
      pingInterval: PING_MS,
      // Messages of an outage are useless afterwards: readers have polled meanwhile.
      disableOfflineQueue: role === 'publisher',
      socket: { host, port, ...times, ...(url.isEncrypted && { tls: true as const, ...(await filesOf(url)) }) },
    })
    // The end of the connection is what counts.
    client.on('error', () => undefined)
    const destroy = () => client.destroy()
    signal.addEventListener('abort', destroy, { once: true })
    client.once('end', () => signal.removeEventListener('abort', destroy))
    try {
      await client.connect()
      return client
    } catch (error) {
      signal.removeEventListener('abort', destroy)
      throw error
    }
  }

  /** Once per outage, not once per attempt. */
  #tellAway(error: unknown): void {
    const { role, logger, signal } = this.#options
    if (this.#isUp && !signal.aborted) logger.warn({ role, err: error }, 'Redis is away: polling more often meanwhile.')
    this.#isUp = false
  }
}

const placeAt = ({ places }: RedisUrl, turn: number): RedisPlace => {
  const place = places[turn % places.length]
  if (!place) throw new Error('a URL of Redis has a server at least')
  return place
}

async function filesOf({ files }: RedisUrl) {
  const [ca, cert, key] = await Promise.all(
    [files.ca, files.cert, files.key].map((path) => (path === null ? undefined : readFile(path, 'utf8'))),
  )
  return { ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) }
}

/** A Sentinel may not have heard yet. A user of Redis that may not ask is believed. */
async function requirePrimary(client: RedisClient): Promise<void> {
  const role = await client.sendCommand(['ROLE']).catch((error: Error) => {
    if (error.message.startsWith('NOPERM')) return ['master']
    throw error
  })
  if (!(Array.isArray(role) && String(role[0]) === 'master')) throw new Error('the server is a replica')
}

const ended = (client: RedisClient, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (!client.isReady) return resolve()
    const done = (): void => {
      if (client.isOpen) client.destroy()
      resolve()
    }
    client.once('error', done).once('end', resolve)
    signal.addEventListener('abort', () => resolve(), { once: true })
    return undefined
  })
