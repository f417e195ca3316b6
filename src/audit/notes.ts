import type { Pool } from 'pg'
import { type AuditEntry, TOKEN_REFUSED } from '../core/audit.ts'
import type { System } from '../core/ports/system.ts'
import type { Logger } from '../logger.ts'
import { insertNoted } from '../store/audit.ts'

/** Equal entries of this many milliseconds are one event. */
const WINDOW_MS = 1_000
/** Events of one window; further ones say only who, what and how it ended. */
const MAX_DISTINCT = 200

export interface NotesParts {
  readonly pool: Pool
  readonly system: Pick<System, 'id'>
  readonly logger: Logger
}

/**
 * Writes what no transaction tells: refusals, failures and wrong tokens. They cost little, however many come: a process that
 * is killed loses those of its last second.
 */
export class AuditNotes implements AsyncDisposable {
  readonly #parts: NotesParts
  #waiting = new Map<string, AuditEntry>()
  #timer: NodeJS.Timeout | null = null
  #writing = Promise.resolve()

  constructor(parts: NotesParts) {
    this.#parts = parts
  }

  /** Cheap, never throws. */
  note(entry: AuditEntry): void {
    this.#add(entry)
    this.#timer ??= setTimeout(() => void this.flush(), WINDOW_MS)
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
  }

  #add(entry: AuditEntry): void {
    const key = keyOf(entry)
    const isNew = !this.#waiting.has(key)
    if (isNew && this.#waiting.size >= MAX_DISTINCT && !isBrief(entry)) return this.#add(briefly(entry))
    const count = (this.#waiting.get(key)?.count ?? 0) + entry.count
    this.#waiting.set(key, { ...entry, count })
  }

  async #write(): Promise<void> {
    const entries = [...this.#waiting.values()]
    this.#waiting = new Map()
    this.#warn(entries)
    const { pool, system, logger } = this.#parts
    for (const [i, entry] of entries.entries()) {
      try {
        await insertNoted(pool, system.id(), entry)
      } catch (error) {
        logger.warn(
          { err: error },
          'Events of the audit could not be written; they are tried again with the next ones.',
        )
        for (const left of entries.slice(i)) this.#add(left)
        return
      }
    }
  }

  #warn(entries: readonly AuditEntry[]): void {
    const refused = entries.filter(({ operation }) => operation === TOKEN_REFUSED)
    if (refused.length === 0) return
    const addresses = [...new Set(refused.map(({ address }) => address))].slice(0, 5)
    const count = refused.reduce((sum, entry) => sum + entry.count, 0)
    this.#parts.logger.warn({ addresses, count }, 'Requests with wrong tokens were refused.')
  }
}

const keyOf = ({ count: _, requestId: __, ...same }: AuditEntry): string => JSON.stringify(same)

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
