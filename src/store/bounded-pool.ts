import { type Client, type DatabaseError, Pool, type PoolConfig } from 'pg'
import type { DatabaseDeadlines } from '../core/database-deadlines.ts'
import { DatabaseUnavailable, PoolExhausted } from '../core/database-unavailable.ts'
import { nameOf } from '../core/database-url.ts'
import type { CallbackClient } from './callback-client.ts'
import { CorkedSocket } from './corked-socket.ts'
import type { Reachability } from './reachability.ts'
import { afterRunning } from './running-time.ts'
import { ServerClient } from './server-client.ts'
import type { DatabaseServers } from './servers.ts'
import { SilenceWatch } from './silence-watch.ts'
import { isLoginRefused, isStale, Unanswered, unavailableOf, unreachableOf } from './unavailable.ts'

/** The process ends: nothing uses the pool any more. */
export class PoolEnded extends DatabaseUnavailable {}

/** Milliseconds that statements and transactions get when the pool ends. */
const FINISH_MS = 2_000
/** Milliseconds that connections get to close in order after that. */
const GOODBYE_MS = 1_000

interface PoolBounds {
  /** The pool's name in errors about a connection that did not become free. */
  readonly name: string
  readonly deadlines: Pick<DatabaseDeadlines, 'connectTimeoutMs' | 'poolTimeoutMs' | 'silenceMs'>
  readonly servers: DatabaseServers
  readonly reachability: Reachability
  /** The pool ends it. */
  readonly ownsReachability: boolean
}

/**
 * A pool in which nothing waits for ever: for a new connection, for a free one, for the answer to a statement, or for
 * the end. Statements that fail because the database is away throw DatabaseUnavailable.
 */
export class BoundedPool extends Pool {
  readonly #name: string
  readonly #deadlines: PoolBounds['deadlines']
  readonly #reachability: Reachability
  readonly #watch: SilenceWatch
  /** Sockets of all connections, also of opening and closing ones. */
  readonly #sockets: Set<CorkedSocket>
  readonly #ownsReachability: boolean
  readonly #servers: DatabaseServers
  readonly #open = new Set<ServerClient>()

  constructor(config: PoolConfig, { name, deadlines, servers, reachability, ownsReachability }: PoolBounds) {
    const { connectTimeoutMs, poolTimeoutMs } = deadlines
    const sockets = new Set<CorkedSocket>()
    const stream = (): CorkedSocket => {
      const socket = new CorkedSocket()
      sockets.add(socket)
      return socket.once('close', () => sockets.delete(socket))
    }
    // The pool gives its clients the bound of its own waiting, by a plain timer.
    const BoundedClient = class extends ServerClient {
      constructor(given: PoolConfig) {
        super({ ...given, connectionTimeoutMillis: 0 }, { servers, connectTimeoutMs })
      }

      override connect = ((connected: (error: Error | null, client?: Client) => void) => {
        const late = afterRunning(connectTimeoutMs, () => this.destroy(tooLate(connectTimeoutMs)))
        super.connect((error: Error | null) => {
          late[Symbol.dispose]()
          const away = unreachableOf(error)
          if (away) reachability.unreachable(away)
          connected(away ?? error, this)
        })
      }) as Client['connect']

      protected override translate(error: unknown): unknown {
        return noted(error, reachability)
      }
    }
    super({
      ...config,
      stream,
      Client: BoundedClient as object as typeof Client,
      connectionTimeoutMillis: poolTimeoutMs,
    })
    this.#name = name
    this.#deadlines = deadlines
    this.#reachability = reachability
    this.#sockets = sockets
    this.#ownsReachability = ownsReachability
    this.#watch = new SilenceWatch(deadlines.silenceMs, reachability)
    this.#servers = servers
    const broke = (error: Error): void => {
      servers.doubt()
      if (!this.ending) reachability.broke(error)
    }
    // Without a listener, a connection that breaks would end the process. The pool replaces an idle one.
    this.on('error', broke)
    this.on('connect', (client) => {
      // On one in use, the next statement fails.
      client.on('error', broke)
      this.#watch.add(client as object as CallbackClient)
      this.#leaveInTime(client as object as ServerClient)
    })
    reachability.onAbandoned(() => this.#destroy())
    servers.onStale((seenBy) => {
      const others = [...this.#open].filter((client) => client !== seenBy)
      for (const client of others) client.destroy(new DatabaseUnavailable(REPLACED))
    })
    servers.onMoved((to) => {
      for (const client of this.#open)
        if (client.place && nameOf(client.place) !== nameOf(to)) client.destroy(new DatabaseUnavailable(MOVED))
    })
  }

  override connect = ((callback?: Parameters<typeof Pool.prototype.connect>[0]) => {
    const again = () => super.connect()
    // A query of the pool; the pool translates its errors.
    if (callback) {
      const refused = this.#refusal()
      if (refused) return callback(refused, undefined, () => {})
      return super.connect((error, client, release) => {
        if (!(error && isLoginRefused(error))) return callback(error, client, release)
        void this.#renewed(error).then((isNew) => (isNew ? super.connect(callback) : callback(error, client, release)))
      })
    }
    const refused = this.#refusal()
    if (refused) return Promise.reject(refused)
    return super
      .connect()
      .catch(async (error) => ((await this.#renewed(error)) ? again() : Promise.reject(error)))
      .catch((error) => this.#failed(error))
  }) as Pool['connect']

  // The driver's overloads stay valid: each call returns what its overload promises.
  override query = ((...args: readonly unknown[]) => {
    const answer: unknown = Reflect.apply(super.query, this, args)
    return answer instanceof Promise ? answer.catch((error) => this.#failed(error)) : answer
  }) as Pool['query']

  /** Callers that wait for a connection get none, and callers that keep one lose it after a while. */
  override end = (async () => {
    const ended = super.end()
    for (const { callback } of this.#waiting.splice(0)) callback(new PoolEnded(ENDS))
    const late = Promise.withResolvers<void>()
    const timer = setTimeout(() => {
      for (const client of this.#open) client.destroy(new PoolEnded(ENDS))
      late.resolve()
    }, FINISH_MS)
    await Promise.race([ended, late.promise]).finally(() => clearTimeout(timer))
    await this.#closed()
    this.#watch.stop()
    if (this.#ownsReachability) await this.#reachability[Symbol.asyncDispose]()
  }) as Pool['end']

  /** Null: connections are given. Requests need not find out for themselves, one after the other, that the database is away. */
  #refusal(): DatabaseUnavailable | null {
    if (this.ending) return new PoolEnded(ENDS)
    return this.#reachability.isDown ? new DatabaseUnavailable('the database cannot be reached') : null
  }

  /** Members that the driver's types omit. */
  get #waiting(): { callback(error: Error): void }[] {
    return (this as object as { readonly _pendingQueue: { callback(error: Error): void }[] })._pendingQueue
  }

  /** True if a refused login has been replaced. */
  async #renewed(error: unknown): Promise<boolean> {
    return isLoginRefused(error) && (await this.#servers.renew())
  }

  /** A server that has become a standby may keep connections, and an address may lead elsewhere now; or its tables are others. */
  #leaveInTime(client: ServerClient): void {
    this.#open.add(client)
    client.once('end', () => this.#open.delete(client))
    const { connection } = client as object as { readonly connection: NodeJS.EventEmitter }
    connection.on('errorMessage', (error: DatabaseError) => {
      const why = isStale(error) ? REPLACED : error.code === READ_ONLY ? MOVED : null
      if (why === null) return
      // Before its next statement, since the others have prepared the same.
      if (why === REPLACED) this.#servers.stale(client)
      else this.#servers.doubt()
      // The caller gets its answer first.
      setImmediate(() => client.destroy(new DatabaseUnavailable(why)))
    })
  }

  #failed(error: unknown): never {
    if (!(error instanceof Error && error.message === NONE_FREE)) throw noted(error, this.#reachability)
    const bounds = { connections: this.options.max, waitedMs: this.#deadlines.poolTimeoutMs }
    throw noted(new PoolExhausted(this.#name, bounds), this.#reachability)
  }

  /** The server closes a connection that said goodbye; if it does not, it is closed without it. */
  async #closed(): Promise<void> {
    const closed = [...this.#sockets].map((socket) => new Promise<unknown>((resolve) => socket.once('close', resolve)))
    const late = setTimeout(() => this.#destroy(), GOODBYE_MS)
    await Promise.all(closed)
    clearTimeout(late)
  }

  #destroy(): void {
    for (const socket of this.#sockets) socket.destroy()
  }
}

/** The server takes no writes. */
const READ_ONLY = '25006'
const REPLACED = 'the tables of the database were replaced'
const MOVED = 'another server takes the writes now'
const ENDS = 'the process ends'

/** The driver's words. */
const NONE_FREE = 'timeout exceeded when trying to connect'

function noted(error: unknown, reachability: Reachability): unknown {
  const away = unavailableOf(error)
  if (away) reachability.broke(away)
  return away ?? error
}

const tooLate = (ms: number): DatabaseUnavailable => new Unanswered(`no connection within ${ms} ms`)
