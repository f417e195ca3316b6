import { CorkedSocket } from './corked-socket.ts'

interface SentQuery {
  readonly name?: string
  handleError(error: unknown, connection: object): void
}
type Handler = (message: unknown) => void

/** Members of the driver that its types omit. */
export interface PipelinedDriver {
  readonly connection: {
    readonly stream: unknown
    readonly submittedNamedStatements: Record<string, unknown>
    /** Ends what `parse`, `bind` and `execute` have begun. */
    sync(): void
    /** The simple protocol: answered on its own. */
    query(text: string): void
    close(message: unknown): void
  }
  /** Sent, and not answered yet; without the one that is being answered. */
  readonly _sentQueryQueue: SentQuery[]
  _handleCommandComplete: Handler
  _handleEmptyQuery: Handler
  _handleErrorMessage: Handler
  _handleReadyForQuery: Handler
}

/** Statements before one Sync, or one query of the simple protocol, which has none left from the beginning. */
interface Group {
  left: number
}

const IN_TRANSACTION = { status: 'T' }

/**
 * Statements of a transaction that are sent in one turn share one Sync. The driver sends a Sync with each, and Postgres answers
 * each with a packet, after it has told its statistics that it is idle in a transaction: that costs a short statement more than its work.
 *
 * - In a transaction, from `begin` on: a statement joins the open group. The end of the turn sends its Sync.
 * - `commit` comes after the Sync of its group, with one of its own, and ends the transaction. Outside of one each statement has a Sync of its own, since a shared one would make
 *   a transaction of them.
 *
 * Answered statements are ready one by one, as the driver expects. After an error Postgres skips the rest of the group, without a word: those
 * statements fail with it, too.
 */
export class SharedSync {
  readonly #driver: PipelinedDriver
  readonly #sync: () => void
  readonly #groups: Group[] = []
  /** Its Sync is not sent yet. */
  #open: Group | null = null
  #text = ''
  #isInTransaction = false
  /** The values of the statement could not be sent: it is closed instead, which is not a command that completes. */
  #isClosed = false

  constructor(driver: PipelinedDriver) {
    this.#driver = driver
    const { connection } = driver
    this.#sync = connection.sync.bind(connection)
    connection.sync = () => this.#submitted()
    const [query, close] = [connection.query.bind(connection), connection.close.bind(connection)]
    connection.query = (text) => {
      this.#end()
      this.#isInTransaction = false
      this.#groups.push({ left: 0 })
      query(text)
    }
    connection.close = (message) => {
      this.#isClosed = true
      close(message)
    }
    const { _handleCommandComplete, _handleEmptyQuery, _handleErrorMessage, _handleReadyForQuery } = driver
    const ready = _handleReadyForQuery.bind(driver)
    const completing =
      (handle: Handler): Handler =>
      (message) => {
        handle.call(driver, message)
        const [group] = this.#groups
        if (group && group.left > 0 && --group.left > 0) ready(IN_TRANSACTION)
      }
    driver._handleCommandComplete = completing(_handleCommandComplete)
    driver._handleEmptyQuery = completing(_handleEmptyQuery)
    driver._handleErrorMessage = (error) => {
      _handleErrorMessage.call(driver, error)
      this.#skip(error)
    }
    driver._handleReadyForQuery = (message) => {
      this.#groups.shift()
      ready(message)
    }
  }

  /** Calls the driver with a statement, which it sends at once. @param text of the statement */
  sending<T>(text: string, send: () => T): T {
    // The answers come while Postgres waits for its disk.
    if (text === 'commit') this.#end()
    this.#text = text
    try {
      return send()
    } finally {
      this.#text = ''
    }
  }

  #submitted(): void {
    const { stream } = this.#driver.connection
    const isEnd = this.#text === 'commit' || this.#isClosed
    if (this.#text === 'begin') this.#isInTransaction = true
    if (!this.#open) {
      this.#open = { left: 0 }
      this.#groups.push(this.#open)
    }
    this.#open.left += 1
    if (!this.#isInTransaction || isEnd || !(stream instanceof CorkedSocket)) this.#end()
    else stream.beforeSending ??= () => this.#end()
    if (this.#text === 'commit') this.#isInTransaction = false
    this.#isClosed = false
  }

  #end(): void {
    if (!this.#open) return
    this.#open = null
    this.#sync()
  }

  /** The rest of the group is not answered. */
  #skip(error: unknown): void {
    const [group] = this.#groups
    if (!group) return
    const { connection, _sentQueryQueue: sent } = this.#driver
    const skipped = sent.splice(0, Math.max(0, group.left - 1))
    group.left = 0
    for (const query of skipped) {
      if (query.name) delete connection.submittedNamedStatements[query.name]
      query.handleError(error, connection)
    }
  }
}
