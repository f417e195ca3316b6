import { setTimeout as delay } from 'node:timers/promises'
import type { PoolConfig } from 'pg'
import { DatabaseUnavailable } from '../core/database-unavailable.ts'
import { type DatabasePlace, type DatabaseUrl, nameOf, readDatabaseUrl, withPlace } from '../core/database-url.ts'
import { isCrowded, Unanswered, unavailableOf } from './unavailable.ts'

/** How long the other servers may take to accept writes once one has refused, in milliseconds. */
const GRACE_MS = 1_000
/** Minimum time between two reads of a source of logins, in milliseconds. */
const RENEW_MS = 1_000

/** A URL of Postgres, or the folder of its socket. */
export type Connection = Pick<PoolConfig, 'connectionString' | 'host' | 'port' | 'user' | 'database'>

/** Asks whether this server takes writes, in bounded time; an abort ends it. Throws why it does not, or cannot be reached. */
type Probe = (place: DatabasePlace, signal: AbortSignal) => Promise<void>

interface ServersOptions {
  readonly connection: Connection
  /** Reads the URL again: a login may be short-lived. Null: it cannot be read now. */
  readonly readUrl?: (() => Promise<string | null>) | undefined
}

/**
 * A database's servers, one of which takes writes, and the login there. As long as nothing fails, connections use the
 * last primary. After a failure one shared task probes all servers at once.
 */
export class DatabaseServers {
  readonly #readUrl: ServersOptions['readUrl']
  readonly #onMoved: ((to: DatabasePlace) => void)[] = []
  readonly #onStale: ((seenBy: object) => void)[] = []
  #connection: Connection
  #url: DatabaseUrl | null
  #primary: DatabasePlace | null = null
  #isDoubtful = true
  #search: Promise<DatabasePlace> | null = null
  #renewal: Promise<boolean> | null = null
  #renewedAt = Number.NEGATIVE_INFINITY
  /**
   * True: session settings are sent as a statement, since a pooler in between refuses them at the start of a
   * connection.
   */
  isPooled = false

  constructor({ connection, readUrl }: ServersOptions) {
    this.#readUrl = readUrl
    this.#url = urlOf(connection.connectionString)
    this.#connection = this.#url ? { ...connection, connectionString: this.#url.driverUrl } : connection
  }

  /** The driver's settings, without the server. */
  get connection(): Connection {
    return this.#connection
  }
  /** True: a server that only reads is not accepted. */
  get needsPrimary(): boolean {
    return this.#url?.needsPrimary ?? false
  }
  get passFile(): string | null {
    return this.#url?.passFile ?? null
  }

  /**
   * The server of the next connection; null: there is only one.
   * @throws DatabaseUnavailable
   */
  async choose(probe: Probe): Promise<DatabasePlace | null> {
    if (!this.#url || this.#url.places.length === 0) return null
    if (this.#primary && !this.#isDoubtful) return this.#primary
    this.#search ??= this.#find(this.#url.places, probe).finally(() => {
      this.#search = null
    })
    return this.#search
  }

  /** A connection failed: the next one probes the servers first. */
  doubt(): void {
    this.#isDoubtful = true
  }

  /** Calls back when another server than before takes the writes: connections to that one are of no use any more. */
  onMoved(callback: (to: DatabasePlace) => void): void {
    this.#onMoved.push(callback)
  }

  /** Calls back when the prepared statements of connections became unusable. */
  onStale(callback: (seenBy: object) => void): void {
    this.#onStale.push(callback)
  }
  stale(seenBy: object): void {
    for (const callback of this.#onStale) callback(seenBy)
  }

  /** The same for a program that takes one server. */
  async single(probe: Probe): Promise<Connection> {
    const place = await this.choose(probe)
    if (!(place && this.#url)) return this.#connection
    return { ...this.#connection, connectionString: withPlace(this.#url, place) }
  }

  /** Reads the login again after a refusal. True: there is a new one. */
  renew(): Promise<boolean> {
    this.#renewal ??= this.#readAgain().finally(() => {
      this.#renewal = null
    })
    return this.#renewal
  }

  async #readAgain(): Promise<boolean> {
    if (!this.#readUrl) return false
    const { connectionString } = this.#connection
    // A login refused during the last read may use its result.
    if (performance.now() - this.#renewedAt < RENEW_MS) return true
    const text = await this.#readUrl()
    const url = text === null ? null : urlOf(text)
    if (!url || url.driverUrl === connectionString) return false
    this.#renewedAt = performance.now()
    this.#url = url
    this.#connection = { ...this.#connection, connectionString: url.driverUrl }
    return true
  }

  async #find(places: readonly DatabasePlace[], probe: Probe): Promise<DatabasePlace> {
    const stop = new AbortController()
    const failures: { readonly place: DatabasePlace; readonly error: unknown }[] = []
    const grace = Promise.withResolvers<never>()
    const attempts = places.map(async (place) => {
      try {
        await probe(place, stop.signal)
        return place
      } catch (error) {
        if (failures.push({ place, error }) === 1)
          delay(GRACE_MS, undefined, { signal: stop.signal }).then(
            () => grace.reject(new Error('late')),
            () => undefined,
          )
        throw error
      }
    })
    try {
      const found = await Promise.race([Promise.any(attempts), grace.promise])
      this.#found(found)
      return found
    } catch {
      throw whyNone(places, failures)
    } finally {
      stop.abort()
    }
  }

  #found(place: DatabasePlace): void {
    const before = this.#primary
    this.#primary = place
    this.#isDoubtful = false
    if (before !== null && nameOf(before) !== nameOf(place)) for (const callback of this.#onMoved) callback(place)
  }
}

function urlOf(text: string | undefined): DatabaseUrl | null {
  if (text === undefined) return null
  const read = readDatabaseUrl(text)
  return read.ok ? read.url : null
}

type Failure = { readonly place: DatabasePlace; readonly error: unknown }

/** A wrong password comes first: the server that refused it may be the one that takes writes, and waiting would not help. */
function whyNone(places: readonly DatabasePlace[], failures: readonly Failure[]): unknown {
  const refusal = failures.find(({ error }) => unavailableOf(error) === null)
  if (refusal) return refusal.error
  const crowded = failures.find(({ error }) => isCrowded(error))
  if (crowded) return crowded.error
  if (failures.length === places.length && failures.every(({ error }) => error instanceof Unanswered))
    return failures[0]?.error
  const reasonOf = (place: DatabasePlace): string => {
    const { error } = failures.find((failure) => failure.place === place) ?? {}
    return `${nameOf(place)}: ${error instanceof Error ? error.message : 'no answer'}`
  }
  return new DatabaseUnavailable(`no server takes writes (${places.map(reasonOf).join('; ')})`)
}
