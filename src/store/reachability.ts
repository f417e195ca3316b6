import { setTimeout as delay } from 'node:timers/promises'
import { DatabaseShortage, type DatabaseUnavailable, PoolExhausted } from '../core/database-unavailable.ts'
import type { Logger } from '../logger.ts'
import { afterRunning } from './running-time.ts'
import { GOODBYE_MS, ServerClient } from './server-client.ts'
import type { DatabaseServers } from './servers.ts'
import { isCrowded, isLoginRefused, Unanswered, unavailableOf, unreachableOf } from './unavailable.ts'

/** Interval of the attempts to reach a database that is away, in milliseconds. */
const RETRY_MS = 250
/** An outage or a shortage is logged when it begins, and so often while it lasts, in milliseconds. */
const REMIND_MS = 10_000
/** Minimum time between two reports of broken connections, in milliseconds. */
const BROKE_MS = 1_000
/**
 * Failed attempts in a row after which the database counts as away: a name that is not found once, or a refusal, says nothing
 * of the connections that are open. One attempt that is not answered at all is enough, unless others are answered meanwhile.
 */
const ATTEMPTS = 3

/**
 * Finds the backends of these that work on a statement. Behind a pooler, clients know other ids than those of backends,
 * as this connection's own id shows. A backend that cannot deliver its answer is on the other end of a dead connection.
 */
const WORKING = `select pg_backend_pid() as own, array(
    select pid from pg_stat_activity
    where pid = any($1) and state in ('active', 'disabled') and wait_event is distinct from 'ClientWrite'
  ) as working`

const SHORTAGE = 'statements fail for want of resources'
const EXHAUSTED = 'requests fail for want of a connection: all of a pool stay in use'

interface Answer {
  readonly own: number | null
  readonly row: unknown
}

interface ReachabilityOptions {
  readonly servers: DatabaseServers
  /** Milliseconds until a new connection must be usable. */
  readonly connectTimeoutMs: number
  readonly logger: Logger
}

/**
 * The state of this process's way to its database, for all of its pools. It reports an outage once, not once for each
 * victim.
 */
export class Reachability implements AsyncDisposable {
  readonly #options: ReachabilityOptions
  readonly #stop = new AbortController()
  readonly #onAbandoned: (() => void)[] = []
  #watching: Promise<void> | null = null
  #failures = 0
  #isClosing = false
  #brokeAt = Number.NEGATIVE_INFINITY
  /** Shortages by name, each with the time of its last line in the log and the failures since. */
  readonly #shortages = new Map<string, { loggedAt: number; failures: number }>()
  #heardAt = Number.NEGATIVE_INFINITY

  constructor(options: ReachabilityOptions) {
    this.#options = options
  }

  /** No new connection can be made. Until one can, requests need not wait to find out for themselves. */
  get isDown(): boolean {
    return this.#failures >= ATTEMPTS
  }

  /** Something came from the database on a connection. */
  heard(): void {
    this.#heardAt = performance.now()
  }

  /** A connection broke, or a statement failed because the server refuses it for now. */
  broke(error: Error): void {
    if (error instanceof DatabaseShortage) return this.#fellShort(error.shortage, error, SHORTAGE)
    if (error instanceof PoolExhausted) return this.#fellShort(error.pool, error, EXHAUSTED)
    const { message: reason } = error
    const now = performance.now()
    if (this.isDown || this.#isClosing || now - this.#brokeAt < BROKE_MS) return
    this.#brokeAt = now
    this.#options.logger.warn({ reason }, 'a connection to the database failed')
  }

  #fellShort(shortage: string, { message: reason }: Error, line: string): void {
    const now = performance.now()
    const known = this.#shortages.get(shortage) ?? { loggedAt: Number.NEGATIVE_INFINITY, failures: 0 }
    this.#shortages.set(shortage, known)
    known.failures += 1
    if (now - known.loggedAt < REMIND_MS) return
    this.#options.logger.error({ shortage, reason, failures: known.failures }, line)
    Object.assign(known, { loggedAt: now, failures: 0 })
  }

  /** A new connection could not be made. */
  unreachable(error: DatabaseUnavailable): void {
    if (isCrowded(error)) return this.broke(error)
    if (this.#watching || this.#stop.signal.aborted) return
    this.#watching = this.#watch(error).finally(() => {
      this.#watching = null
      this.#failures = 0
    })
    if (this.#isClosing) this.#abandon()
  }

  /** From now on nothing waits for a database that is away. */
  closing(): void {
    this.#isClosing = true
    if (this.#watching) this.#abandon()
  }

  /** Calls back when the connections are of no use any more, since the process ends while the database is away. */
  onAbandoned(callback: () => void): void {
    this.#onAbandoned.push(callback)
  }

  /** Resolves if the database answers on a new connection. @throws DatabaseUnavailable, or the error of Postgres */
  async check(signal?: AbortSignal): Promise<void> {
    await this.#ask('select 1', [], signal)
  }

  /**
   * The backends of these that work on a statement within its time; null: unknown, but the database answers.
   * @throws DatabaseUnavailable
   */
  async working(pids: readonly number[]): Promise<ReadonlySet<number> | null> {
    try {
      const { own, row } = await this.#ask(WORKING, [pids])
      const { own: told, working } = row as { readonly own: number; readonly working: readonly number[] }
      return own === told ? new Set(working) : null
    } catch (error) {
      if (isCrowded(error)) return null
      const away = unavailableOf(error)
      if (!away) return null
      this.unreachable(away)
      throw away
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosing = true
    this.#stop.abort()
    await this.#watching
  }

  #abandon(): void {
    for (const callback of this.#onAbandoned) callback()
  }

  async #watch(first: DatabaseUnavailable): Promise<void> {
    const { logger } = this.#options
    const { signal } = this.#stop
    const since = performance.now()
    const forMs = () => Math.round(performance.now() - since)
    this.#failed(first)
    let remindAt = since + REMIND_MS
    while (!signal.aborted) {
      await delay(RETRY_MS, undefined, { signal }).catch(() => undefined)
      if (signal.aborted) return
      const failed = await this.check().then(() => null, unreachableOf)
      if (signal.aborted) return
      if (!failed || isCrowded(failed)) {
        if (this.isDown) logger.warn({ forMs: forMs() }, 'the database is reachable again')
        return
      }
      this.#failed(failed)
      if (performance.now() < remindAt) continue
      remindAt = performance.now() + REMIND_MS
      logger.warn({ reason: failed.message, forMs: forMs() }, 'the database still cannot be reached')
    }
  }

  #failed(error: DatabaseUnavailable): void {
    const wasDown = this.isDown
    this.#failures += error instanceof Unanswered && !this.#isHeard() ? ATTEMPTS : 1
    if (this.isDown && !wasDown)
      this.#options.logger.warn(
        { reason: error.message },
        'the database cannot be reached; requests that need it are refused until it can',
      )
  }

  /** True if data came in the second half of an attempt, which therefore began before the silence. */
  #isHeard(): boolean {
    return performance.now() - this.#heardAt < this.#options.connectTimeoutMs / 2
  }

  /** The answer to one statement on a connection of its own, in bounded time. */
  async #ask(text: string, values: unknown[], signal = this.#stop.signal): Promise<Answer> {
    try {
      return await this.#askOnce(text, values, signal)
    } catch (error) {
      if (!(isLoginRefused(error) && (await this.#options.servers.renew()))) throw error
      return this.#askOnce(text, values, signal)
    }
  }

  async #askOnce(text: string, values: unknown[], signal: AbortSignal): Promise<Answer> {
    const signals = [signal, this.#stop.signal]
    for (const each of signals) each.throwIfAborted()
    const { servers, connectTimeoutMs } = this.#options
    const client = new ServerClient({ application_name: 'phaseline' }, { servers, connectTimeoutMs })
    const destroy = () => client.destroy()
    // Bounds the whole exchange: a server may accept a connection and then stay silent.
    const late = afterRunning(connectTimeoutMs, () =>
      client.destroy(new Unanswered(`no answer within ${connectTimeoutMs} ms`)),
    )
    for (const each of signals) each.addEventListener('abort', destroy)
    try {
      await client.connect()
      const { rows } = await client.query(text, values)
      return { own: client.backendPid, row: rows[0] }
    } catch (error) {
      throw unavailableOf(error) ?? error
    } finally {
      // The server gets a goodbye, and need not answer.
      await Promise.race([client.end(), delay(GOODBYE_MS)])
      late[Symbol.dispose]()
      for (const each of signals) each.removeEventListener('abort', destroy)
      destroy()
    }
  }
}
