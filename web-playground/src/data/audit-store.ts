import { ClientError } from 'phaseline/client'
import { nextCursor, nodesOf } from 'phaseline/client-model'
import { type AuditFilter, auditFilterInput, withNewer } from '../model/audit.ts'
import { AUDIT_CHAIN, AUDIT_EVENTS, AUDIT_NEWEST, AUDIT_PAGE, AUDIT_PATHS } from './documents-audit.ts'
import type { ResultOf } from './gql.ts'
import { isRetryable, messageOf } from './live-read.ts'
import type { Session } from './session.ts'
import { Store } from './store.ts'

const PAGE = 100
/** Live rows push the oldest ones out, which can be read again. */
const MAX_ROWS = 2_000
/** The most ids of one read of paths. */
const MAX_IDS = 500
const AGAIN_MS = 2_000
const CHAIN_MS = 5_000

export type AuditEvent = ResultOf<typeof AUDIT_EVENTS>['auditEvents']
export type AuditChain = NonNullable<ResultOf<typeof AUDIT_CHAIN>['auditChain']>

/** Events that match, the newest first: those that were read, and live ones. */
export class AuditStore extends Store {
  readonly #session: Session
  readonly #signal: AbortSignal
  readonly #filter: ReturnType<typeof auditFilterInput>
  events: readonly AuditEvent[] = []
  /** Paths of the objects that are still there, by their ids. */
  readonly paths = new Map<string, string>()
  loaded = false
  error: string | null = null
  /** Null: only administrators of the instance see it. */
  chain: AuditChain | null = null
  isReadingOlder = false
  #older: string | null = null
  /** Objects whose paths were read, or are not there to be read. */
  readonly #located = new Set<string>()
  #isLocating = false
  #limit = MAX_ROWS
  /** Everything up to here was read. */
  #last: string | null = null

  constructor(session: Session, filter: AuditFilter, signal: AbortSignal) {
    super()
    this.#session = session
    this.#signal = signal
    this.#filter = auditFilterInput(filter, Date.now())
    void this.#run()
    if (session.viewer.isAdministrator) this.#watchChain()
  }

  get hasOlder(): boolean {
    return this.#older !== null
  }

  readonly readOlder = (): void => {
    if (this.isReadingOlder || this.#older === null) return
    this.isReadingOlder = true
    this.changed()
    this.#page(this.#older)
      .then((events) => {
        this.events = [...this.events, ...events]
        this.#limit = Math.max(this.#limit, this.events.length)
      })
      .catch((error: unknown) => {
        this.error = messageOf(error)
      })
      .finally(() => {
        this.isReadingOlder = false
        this.changed()
        void this.#locate()
      })
  }

  /** Most events have an id alone, since a request has named the object by it. Events that come meanwhile share the next read. */
  async #locate(): Promise<void> {
    if (this.#isLocating) return
    this.#isLocating = true
    try {
      for (;;) {
        const unknown = this.events.flatMap(({ objectId: id }) => (id && !this.#located.has(id) ? id : []))
        const ids = [...new Set(unknown)].slice(0, MAX_IDS)
        if (ids.length === 0) return
        const { nodes } = await this.#session.client.query(AUDIT_PATHS, { ids }, { signal: this.#signal })
        for (const id of ids) this.#located.add(id)
        for (const node of nodes) if (node && 'path' in node && node.path) this.paths.set(node.id, node.path)
        this.changed()
      }
    } catch {
      // The rows show the names that the events have; the next event asks again.
    } finally {
      this.#isLocating = false
    }
  }

  /** Reads, then follows; reads again when the audit cannot be continued. */
  async #run(): Promise<void> {
    while (!this.#signal.aborted) {
      try {
        await this.#read()
        await this.#follow()
      } catch (error) {
        if (this.#signal.aborted) return
        const isExpired = error instanceof ClientError && error.code === 'CURSOR_EXPIRED'
        if (!isExpired) this.error = messageOf(error)
        this.changed()
        if (!isExpired && !isRetryable(error)) return
        await new Promise((resolve) => setTimeout(resolve, AGAIN_MS))
      }
    }
  }

  async #read(): Promise<void> {
    const { client } = this.#session
    // Before the page: what comes between the two is in both, and shown once.
    const { auditLog } = await client.query(AUDIT_NEWEST, {}, { signal: this.#signal })
    const newest = nodesOf(auditLog)[0]
    this.#last = newest?.cursor ?? null
    this.events = await this.#page(null)
    this.loaded = true
    this.error = null
    this.changed()
    void this.#locate()
  }

  async #page(after: string | null): Promise<readonly AuditEvent[]> {
    const variables = { filter: this.#filter, first: PAGE, after }
    const { auditLog } = await this.#session.client.query(AUDIT_PAGE, variables, { signal: this.#signal })
    this.#older = nextCursor(auditLog)
    return nodesOf(auditLog)
  }

  async #follow(): Promise<void> {
    const place = () => ({ filter: this.#filter, after: this.#last })
    for await (const { auditEvents: event } of this.#session.client.subscribe(AUDIT_EVENTS, place, {
      signal: this.#signal,
    })) {
      this.#last = event.cursor
      const events = withNewer(this.events, event)
      this.events = events.slice(0, this.#limit)
      if (events.length > this.#limit) this.#older = this.events.at(-1)?.cursor ?? null
      this.changed()
      void this.#locate()
    }
  }

  #watchChain(): void {
    const read = async (): Promise<void> => {
      const { auditChain } = await this.#session.client.query(AUDIT_CHAIN, {}, { signal: this.#signal })
      this.chain = auditChain
      this.changed()
    }
    // The rows say what is wrong if the server does not answer.
    const look = (): void => void read().catch(() => undefined)
    const again = setInterval(() => document.hidden || look(), CHAIN_MS)
    this.#signal.addEventListener('abort', () => clearInterval(again))
    look()
  }
}
