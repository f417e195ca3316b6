import { DatabaseError, type Pool } from 'pg'
import { type AuditEntry, TOKEN_REFUSED } from '../core/audit.ts'
import type { System } from '../core/ports/system.ts'
import type { Logger } from '../logger.ts'
import { insertNoted } from '../store/audit.ts'
import { awaitAll } from '../store/await-all.ts'
import { inTransaction } from '../store/in-transaction.ts'
import { keyOf } from './entry-key.ts'

/** Equal entries of this many milliseconds are one event. */
const WINDOW_MS = 1_000
/** Events of one window; further ones say only who, what and how it ended. */
const MAX_DISTINCT = 200
/** Events of one transaction. */
const PAGE = 100

export interface NotesParts {
  readonly pool: Pool
  readonly system: Pick<System, 'id'>
  readonly logger: Logger
  /** Called when events were written. */
  readonly onWritten: () => void
}

interface Identified {
  readonly id: string
  readonly entry: AuditEntry
}

/**
 * Writes events that no transaction records: refusals, failures and wrong tokens. They cost little, however many they
 * are: a killed process loses those of its last second.
 */
export class AuditNotes implements AsyncDisposable {
  readonly #parts: NotesParts
  readonly #waiting = new Map<string, AuditEntry>()
  /** The batch being written; later events wait. */
  readonly #batch: Identified[] = []
  #timer: NodeJS.Timeout | null = null
  #writing = Promise.resolve()

  constructor(parts: NotesParts) {
    this.#parts = parts
  }

  /** Cheap, never throws. */
  note(entry: AuditEntry): void {
    this.#add(entry)
    this.#writeSoon()
  }

  /** Resolves once everything that was noted before is written, or could not be. */
  flush(): Promise<void> {
    if (this.#timer) clearTimeout(this.#timer)
    this.#timer = null
    this.#writing = this.#writing.then(() => this.#write())
    return this.#writing
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.flush()
    if (this.#timer) clearTimeout(this.#timer)
    const lost = this.#batch.length + this.#waiting.size
    // Without the error: the logger leaves out what fails because the database is away.
    if (lost > 0)
      this.#parts.logger.error(
        { lost },
        'Events of the audit are lost: they could not be written before the process ended. Changes have theirs.',
      )
  }

  #writeSoon(): void {
    this.#timer ??= setTimeout(() => void this.flush(), WINDOW_MS)
  }

  #add(entry: AuditEntry): void {
    const key = keyOf(entry)
    const isNew = !this.#waiting.has(key)
    if (isNew && this.#waiting.size >= MAX_DISTINCT && !isBrief(entry)) return this.#add(briefly(entry))
    const count = (this.#waiting.get(key)?.count ?? 0) + entry.count
    this.#waiting.set(key, { ...entry, count })
  }

  /** Takes once: while refusals keep coming, those of each window are one event. */
  async #write(): Promise<void> {
    if (!(await this.#writeBatch())) return
    this.#take()
    await this.#writeBatch()
  }

  /** False: some could not be written, and are tried again. */
  async #writeBatch(): Promise<boolean> {
    const { logger, onWritten } = this.#parts
    const count = this.#batch.length
    while (this.#batch.length > 0) {
      const page = this.#batch.slice(0, PAGE)
      try {
        await this.#insert(page)
      } catch (error) {
        logger.warn({ err: error }, 'Events of the audit could not be written; they are tried again in a second.')
        this.#writeSoon()
        return false
      }
      this.#batch.splice(0, page.length)
    }
    if (count > 0) onWritten()
    return true
  }

  /** Pipelined, with one commit for all; each alone where Postgres refuses one of them, which is lost then. */
  async #insert(page: readonly Identified[]): Promise<void> {
    const { pool, logger } = this.#parts
    try {
      await inTransaction(pool, (client) => awaitAll(page.map(({ id, entry }) => insertNoted(client, id, entry))))
    } catch (error) {
      if (!isRefusedValue(error)) throw error
      if (page.length > 1) for (const each of page) await this.#insert([each])
      // Without the error, which quotes the value.
      else logger.error({ lost: 1, code: error.code }, 'An event of the audit is lost: Postgres refuses what it holds.')
    }
  }

  /** Their ids stay the same when they are tried again, so that none is there twice. */
  #take(): void {
    const entries = [...this.#waiting.values()]
    this.#waiting.clear()
    this.#warn(entries)
    this.#batch.push(...entries.map((entry) => ({ id: this.#parts.system.id(), entry })))
  }

  #warn(entries: readonly AuditEntry[]): void {
    const refused = entries.filter(({ operation }) => operation === TOKEN_REFUSED)
    if (refused.length === 0) return
    const addresses = [...new Set(refused.map(({ address }) => address))].slice(0, 5)
    const count = refused.reduce((sum, entry) => sum + entry.count, 0)
    this.#parts.logger.warn({ addresses, count }, 'Requests with wrong tokens were refused.')
  }
}

/** Data exceptions and violated constraints: the same event would be refused again. */
const isRefusedValue = (error: unknown): error is DatabaseError =>
  error instanceof DatabaseError && /^2[23]...$/.test(error.code ?? '')

const briefly = (entry: AuditEntry): AuditEntry => ({
  ...entry,
  ...{
    address: null,
    requestId: null,
    projectId: null,
    projectName: null,
    objectId: null,
    objectName: null,
    fields: [],
  },
})
const isBrief = (entry: AuditEntry): boolean => keyOf(entry) === keyOf(briefly(entry))
