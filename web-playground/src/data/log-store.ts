import { logRangeOf, type PhaseChange } from 'phaseline/client'
import { phasesOf } from '../model/known.ts'
import { addChanges, addOlder, EMPTY_LOG, LOG_ROOM, type LogBuffer, pauseLog, resumeLog } from '../model/log-buffer.ts'
import { type LogFilter, logFilterInput } from '../model/log-filter.ts'
import { HEAD, LOG_PAGE } from './documents.ts'
import type { ResultOf, VariablesOf } from './gql.ts'
import { isRetryable, messageOf } from './live-read.ts'
import type { Session } from './session.ts'
import { Store } from './store.ts'

const PAGE = 200
/** Matches with which a search is content for now. */
const ENOUGH = 50
/** Requests of one search: each looks through a bounded part of the log. */
const MAX_REQUESTS = 20
const AGAIN_MS = 2_000

type Filter = NonNullable<VariablesOf<typeof LOG_PAGE>['filter']>

/** The newest changes of the log that match, then live ones, and older ones on request. The server filters. */
export class LogStore extends Store {
  log: LogBuffer = EMPTY_LOG
  loaded = false
  /** True while older changes load. */
  searching = false
  error: string | null = null
  readonly #session: Session
  readonly #signal: AbortSignal
  readonly #filter: Filter
  #older: string | null = null
  #last = 0

  constructor(session: Session, filter: LogFilter, signal: AbortSignal) {
    super()
    this.#session = session
    this.#signal = signal
    this.#filter = logFilterInput(filter, phasesOf, Date.now()) as Filter
    void this.#run()
  }

  /** True if the log has changes before the loaded ones. */
  get hasOlder(): boolean {
    return this.#older !== null || this.log.dropped > 0
  }
  get isFull(): boolean {
    return this.log.shown.length >= LOG_ROOM
  }

  readonly pause = (): void => {
    this.log = pauseLog(this.log)
    this.changed()
  }
  readonly resume = (): void => {
    this.log = resumeLog(this.log)
    this.changed()
  }
  readonly readOlder = (): void => {
    if (this.searching || this.#older === null || this.isFull) return
    this.#search().catch((error: unknown) => {
      if (this.#signal.aborted) return
      this.error = messageOf(error)
      this.changed()
    })
  }

  /** Reads, then follows; reads again when the log has lost the place. */
  async #run(): Promise<void> {
    while (!this.#signal.aborted) {
      try {
        // Before the pages: what comes between the two is in both, and shown once.
        const { log } = await this.#session.client.query(HEAD, {}, { signal: this.#signal })
        this.log = { ...EMPTY_LOG, paused: this.log.paused }
        this.#older = null
        await this.#search()
        await this.#follow(log.endCursor)
      } catch (error) {
        if (this.#signal.aborted) return
        const isLost = logRangeOf(error) !== null
        if (!isLost) this.error = messageOf(error)
        this.changed()
        if (!isLost && !isRetryable(error)) return
        await new Promise((resolve) => setTimeout(resolve, AGAIN_MS))
      }
    }
  }

  /** Reads pages until enough is found, or the log has no more, or it takes long. */
  async #search(): Promise<void> {
    this.searching = true
    this.changed()
    try {
      let found = 0
      for (let request = 0; request < MAX_REQUESTS && found < ENOUGH; request += 1) {
        found += await this.#page()
        if (this.#older === null) break
      }
      this.loaded = true
      this.error = null
    } finally {
      this.searching = false
      this.changed()
    }
  }

  async #page(): Promise<number> {
    const variables = { filter: this.#filter, last: PAGE, before: this.#older }
    const { phaseChanges }: ResultOf<typeof LOG_PAGE> = await this.#session.client.query(LOG_PAGE, variables, {
      signal: this.#signal,
    })
    if (!phaseChanges) throw new Error('The server answered without the log.')
    const { edges, pageInfo } = phaseChanges
    const changes = edges.map(({ node }) => node).reverse()
    this.log = addOlder(this.log, changes)
    this.#last = Math.max(this.#last, changes[0]?.sequence ?? 0)
    this.#older = pageInfo.hasPreviousPage ? pageInfo.startCursor : null
    this.changed()
    return changes.length
  }

  async #follow(after: string): Promise<void> {
    const { client } = this.#session
    for await (const { changes } of client.followPhases({ filter: this.#filter, after, signal: this.#signal })) {
      const news: readonly PhaseChange[] = changes.filter(({ sequence }) => sequence > this.#last)
      if (news.length === 0) continue
      this.#last = news.at(-1)?.sequence ?? this.#last
      this.log = addChanges(this.log, news)
      this.changed()
    }
  }
}
