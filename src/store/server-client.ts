import type { Client, ClientConfig } from 'pg'
import { DatabaseUnavailable } from '../core/database-unavailable.ts'
import type { DatabasePlace } from '../core/database-url.ts'
import { CallbackClient } from './callback-client.ts'
import { passwordOfFile } from './pass-file.ts'
import { afterRunning } from './running-time.ts'
import type { DatabaseServers } from './servers.ts'
import { settingsOf, splitOptions } from './session-settings.ts'
import { isCrowded, Unanswered } from './unavailable.ts'

/** Members that the driver's types omit. */
interface Driver {
  host: string
  port: number
  password: unknown
  readonly user: string
  readonly database: string
  readonly connection: NodeJS.EventEmitter & { readonly stream: { destroy(error?: Error): void } }
}

/** PgBouncer's answer to settings at the start of a connection; the next attempt omits them. */
const NO_OPTIONS = /unsupported startup parameter.*options/

interface ServerClientOptions {
  readonly servers: DatabaseServers
  readonly connectTimeoutMs: number
  /** Connects to this server, primary or not; absent: to the primary. */
  readonly place?: DatabasePlace
}

/** Milliseconds that a connection gets to say goodbye. */
export const GOODBYE_MS = 20

/** A connection to the server of a database that takes writes, with the login of the moment. */
export class ServerClient extends CallbackClient {
  readonly #servers: DatabaseServers
  readonly #settings: readonly (readonly [string, string])[]
  readonly #gone = Promise.withResolvers<never>()
  readonly #reported = new Map<string, string>()
  readonly #connectTimeoutMs: number
  #place: DatabasePlace | null
  #pid: number | null = null
  #broken: Error | null = null

  constructor(given: ClientConfig, { servers, connectTimeoutMs, place }: ServerClientOptions) {
    const { options: ours = '', ...others } = given
    const { config, options } = splitOptions({ ...others, ...servers.connection }, ours)
    super(servers.isPooled ? config : { ...config, options })
    this.#servers = servers
    this.#settings = settingsOf(options)
    this.#place = place ?? null
    this.#connectTimeoutMs = connectTimeoutMs
    this.#gone.promise.catch(() => undefined)
    // A server may end a connection with the packet that opens it, before its owner listens. Unheard, that ends the process.
    this.on('error', (error) => {
      this.#broken ??= error
    })
    const driver = this.#asDriver
    if (driver.password === null) driver.password = () => this.#passwordOfFile()
    driver.connection.on('parameterStatus', ({ parameterName, parameterValue }) =>
      this.#reported.set(parameterName, parameterValue),
    )
  }

  /** Null: the driver has chosen it. */
  get place(): DatabasePlace | null {
    return this.#place
  }

  override get backendPid(): number | null {
    return this.#pid ?? super.backendPid
  }

  override connect(): Promise<Client>
  override connect(connected: (error: Error) => void): void
  override connect(connected?: (error: Error) => void): Promise<Client> | undefined {
    const opened = this.#open()
    if (!connected) return opened.then(() => this)
    const done = connected as (error: Error | null) => void
    opened.then(() => done(null), done)
    return undefined
  }

  override destroy(error?: Error): void {
    this.#gone.reject(error ?? new DatabaseUnavailable('the connection was given up'))
    super.destroy(error)
  }

  get #asDriver(): Driver {
    return this as object as Driver
  }

  async #open(): Promise<void> {
    const driver = this.#asDriver
    const isFixed = this.#place !== null
    this.#place ??= await Promise.race([
      this.#servers.choose(probing(this.#servers, this.#connectTimeoutMs)),
      this.#gone.promise,
    ])
    if (this.#place) Object.assign(driver, this.#place)
    try {
      await this.#connect()
      if (this.#servers.isPooled) await this.#applySettings()
      if (this.#broken) throw this.#broken
      if (this.#servers.needsPrimary) this.#requirePrimary()
    } catch (error) {
      if (!isFixed && !isCrowded(error)) this.#servers.doubt()
      if (error instanceof Error && NO_OPTIONS.test(error.message)) this.#servers.isPooled = true
      // The callback of `end` would report the broken connection a second time.
      super.end(() => undefined)
      driver.connection.stream.destroy()
      throw error
    }
  }

  #connect(): Promise<void> {
    return new Promise((resolve, reject) => {
      super.connect((error: Error | null) => (error ? reject(error) : resolve()))
    })
  }

  async #applySettings(): Promise<void> {
    const set = this.#settings.map((_, i) => `, set_config($${2 * i + 1}, $${2 * i + 2}, false)`)
    const text = `select pg_backend_pid() as pid, pg_is_in_recovery() as standby${set.join('')}`
    const { rows } = await this.query<{ pid: number; standby: boolean }>(text, this.#settings.flat())
    this.#pid = rows[0]?.pid ?? null
    if (rows[0]?.standby) this.#reported.set('in_hot_standby', 'on')
  }

  #requirePrimary(): void {
    if (this.#reported.get('in_hot_standby') === 'on') throw new DatabaseUnavailable('it is a standby')
    if (this.#reported.get('default_transaction_read_only') === 'on')
      throw new DatabaseUnavailable('it takes no writes: default_transaction_read_only is on')
  }

  async #passwordOfFile(): Promise<string | undefined> {
    const { host, port, database, user } = this.#asDriver
    return (await passwordOfFile(this.#servers.passFile, { host, port, database, user })) ?? undefined
  }
}

/** Finds the primary among the servers. */
export const probing =
  (servers: DatabaseServers, connectTimeoutMs: number) =>
  async (place: DatabasePlace, signal: AbortSignal): Promise<void> => {
    const client = new ServerClient({ application_name: 'phaseline' }, { servers, connectTimeoutMs, place })
    const late = afterRunning(connectTimeoutMs, () => client.destroy(new Unanswered('no answer')))
    const destroy = () => client.destroy()
    signal.addEventListener('abort', destroy)
    try {
      await client.connect()
    } finally {
      late[Symbol.dispose]()
      signal.removeEventListener('abort', destroy)
      client.end(() => undefined)
      // The goodbye is sent, and its answer is not awaited.
      setTimeout(destroy, GOODBYE_MS)
    }
  }
