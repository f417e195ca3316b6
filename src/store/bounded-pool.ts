import { type Client, Pool, type PoolConfig } from 'pg'
import type { DatabaseDeadlines } from '../core/database-deadlines.ts'
import { DatabaseUnavailable } from '../core/database-unavailable.ts'
import { CallbackClient } from './callback-client.ts'
import { CorkedSocket } from './corked-socket.ts'
import { type Reachability, Unanswered } from './reachability.ts'
import { afterRunning } from './running-time.ts'
import { SilenceWatch } from './silence-watch.ts'
import { unavailableOf } from './unavailable.ts'

/** The database may be there: all connections of the pool are in use, for as long as a request may wait for one. */
export class PoolExhausted extends DatabaseUnavailable {}

/** Milliseconds that connections get to close in order when the pool ends. */
const GOODBYE_MS = 1_000

interface PoolBounds {
  readonly deadlines: Pick<DatabaseDeadlines, 'connectTimeoutMs' | 'poolTimeoutMs' | 'silenceMs'>
  readonly reachability: Reachability
  /** The pool ends it. */
  readonly ownsReachability: boolean
}

/**
 * A pool in which nothing waits for ever: for a new connection, for a free one, for the answer to a statement, or for the end.
 * What fails since the database is away fails with DatabaseUnavailable.
 */
export class BoundedPool extends Pool {
  readonly #deadlines: PoolBounds['deadlines']
  readonly #reachability: Reachability
  readonly #watch: SilenceWatch
  /** Of all connections: also of those that are being opened or closed. */
  readonly #sockets: Set<CorkedSocket>
  readonly #ownsReachability: boolean

  constructor(config: PoolConfig, { deadlines, reachability, ownsReachability }: PoolBounds) {
    const { connectTimeoutMs, poolTimeoutMs } = deadlines
    const sockets = new Set<CorkedSocket>()
    const stream = (): CorkedSocket => {
      const socket = new CorkedSocket()
      sockets.add(socket)
      return socket.once('close', () => sockets.delete(socket))
    }
    // The pool gives its clients the bound of its own waiting, by a plain timer.
    const BoundedClient = class extends CallbackClient {
      constructor(given: PoolConfig) {
        super({ ...given, connectionTimeoutMillis: 0 })
      }

      override connect = ((connected: (error: Error | null, client?: Client) => void) => {
        const late = afterRunning(connectTimeoutMs, () => this.destroy(tooLate(connectTimeoutMs)))
        super.connect((error: Error | null) => {
          late[Symbol.dispose]()
          const away = unavailableOf(error)
          if (away) reachability.unreachable(away)
          connected(away ?? error, this)
        })
      }) as Client['connect']

      protected override translate(error: unknown): unknown {
        return noted(error, reachability)
      }
    }
    super({ ...config, stream, Client: BoundedClient as typeof CallbackClient, connectionTimeoutMillis: poolTimeoutMs })
    this.#deadlines = deadlines
    this.#reachability = reachability
    this.#sockets = sockets
    this.#ownsReachability = ownsReachability
    this.#watch = new SilenceWatch(deadlines.silenceMs, reachability)
    const broke = (error: Error): void => {
      if (!this.ending) reachability.broke(error)
    }
    // Without a listener, a connection that breaks would end the process. The pool replaces an idle one.
    this.on('error', broke)
    this.on('connect', (client) => {
      // On one in use, the next statement fails.
      client.on('error', broke)
      this.#watch.add(client as object as CallbackClient)
    })
    reachability.onAbandoned(() => this.#destroy())
  }

  override connect = ((callback?: Parameters<typeof Pool.prototype.connect>[0]) => {
    // Of a query of the pool, which translates errors itself.
    if (callback) return this.#isRefused() ? callback(refused(), undefined, () => {}) : super.connect(callback)
    return this.#isRefused() ? Promise.reject(refused()) : super.connect().catch((error) => this.#failed(error))
  }) as Pool['connect']

  // The driver's overloads stay valid: each call returns what its overload promises.
  override query = ((...args: readonly unknown[]) => {
    const answer: unknown = Reflect.apply(super.query, this, args)
    return answer instanceof Promise ? answer.catch((error) => this.#failed(error)) : answer
  }) as Pool['query']

  override end = (async () => {
    await super.end()
    await this.#closed()
    this.#watch.stop()
    if (this.#ownsReachability) await this.#reachability[Symbol.asyncDispose]()
  }) as Pool['end']

  /** Requests need not find out for themselves, one after the other, that the database is away. */
  #isRefused(): boolean {
    return this.#reachability.isDown && !this.ending
  }

  #failed(error: unknown): never {
    if (!(error instanceof Error && error.message === NONE_FREE)) throw noted(error, this.#reachability)
    const { poolTimeoutMs } = this.#deadlines
    const reason = `none of the ${this.options.max} connections became free within ${poolTimeoutMs} ms`
    throw noted(new PoolExhausted(reason), this.#reachability)
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

/** The driver's words. */
const NONE_FREE = 'timeout exceeded when trying to connect'

function noted(error: unknown, reachability: Reachability): unknown {
  const away = unavailableOf(error)
  if (away) reachability.broke(away)
  return away ?? error
}

const tooLate = (ms: number): DatabaseUnavailable => new Unanswered(`no connection within ${ms} ms`)
const refused = (): DatabaseUnavailable => new DatabaseUnavailable('the database cannot be reached')
