import { ClientError } from 'phaseline/client'
import { isAtLeast } from '../model/line-level.ts'
import { type OutputFilter, outputFilterInput } from '../model/output-filter.ts'
import { OUTPUT_END, OUTPUT_LIVE, OUTPUT_PAGE } from './documents-output.ts'
import type { ResultOf, VariablesOf } from './gql.ts'
import { isRetryable, messageOf } from './live-read.ts'
import type { Session } from './session.ts'
import { Store } from './store.ts'

type Page = NonNullable<ResultOf<typeof OUTPUT_PAGE>['output']>
type Node = NonNullable<Page['edges'][number]['node']>
export type OutputLine = Node & { readonly cursor: string }
type Filter = VariablesOf<typeof OUTPUT_PAGE>['filter']

const PAGE = 500
/** Lines with which a search is content for now. */
const ENOUGH = 200
/** Requests of one search: each looks through a bounded part of the output. */
const MAX_REQUESTS = 20
/** Before the line that a link leads to. */
const BEFORE = 100
/** More than a reader scrolls through. */
const ROOM = 20_000
/** A file of more would not fit into many an editor. */
export const MOST_SAVED = 200_000
const AGAIN_MS = 2_000
const GATHER_MS = 30

/** Lines of output that match, the oldest first: the last ones and what comes, or those around one line. */
export class OutputStore extends Store {
  lines: readonly OutputLine[] = []
  loaded = false
  searching = false
  error: string | null = null
  /** True if new lines are shown as they arrive. */
  live = false
  readonly #session: Session
  readonly #signal: AbortSignal
  readonly #filter: OutputFilter
  readonly #input: Filter
  #older: string | null = null
  #newer: string | null = null
  /** The cursor after which lines are followed; all before it were searched. */
  #followed: string | null = null

  constructor(session: Session, filter: OutputFilter, signal: AbortSignal) {
    super()
    this.#session = session
    this.#signal = signal
    this.#filter = filter
    this.#input = outputFilterInput(filter, Date.now()) as Filter
    void this.#run()
  }

  get hasOlder(): boolean {
    return this.#older !== null
  }
  get hasNewer(): boolean {
    return this.#newer !== null
  }
  get isFull(): boolean {
    return this.lines.length >= ROOM
  }

  readonly readOlder = (): void => void this.#onRequest(() => this.#search())
  readonly readNewer = (): void =>
    void this.#onRequest(async () => {
      await this.#forward()
      if (this.#newer === null) void this.#run()
    })

  async #onRequest(read: () => Promise<void>): Promise<void> {
    if (this.searching || this.isFull) return
    this.searching = true
    this.changed()
    try {
      await read()
    } catch (error) {
      if (this.#signal.aborted) return
      this.error = messageOf(error)
    } finally {
      this.searching = false
      this.changed()
    }
  }

  /** Reads, then follows, and resumes after its last line when it was interrupted. */
  async #run(): Promise<void> {
    while (!this.#signal.aborted) {
      try {
        if (!this.loaded) await (this.#filter.line ? this.#around(this.#filter.line) : this.#last())
        if (this.#newer !== null) return
        await this.#follow()
      } catch (error) {
        if (this.#signal.aborted) return
        this.live = false
        // The database is an older one than before: what is shown may not be in it.
        const isLost = this.loaded && error instanceof ClientError && error.code === 'CURSOR_EXPIRED'
        if (isLost) this.#begin()
        else this.error = messageOf(error)
        this.changed()
        if (!isLost && !isRetryable(error)) return
      }
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS))
    }
  }

  #begin(): void {
    this.lines = []
    this.loaded = false
    this.#older = null
    this.#newer = null
    this.#followed = null
  }

  /** Takes down the end of the output before it reads: what comes between the two is in both, and shown once. */
  async #last(): Promise<void> {
    const { output } = await this.#session.client.query(OUTPUT_END, {}, { signal: this.#signal })
    this.#followed = output?.edges.at(-1)?.cursor ?? output?.pageInfo.endCursor ?? null
    await this.#search()
  }

  async #around(line: string): Promise<void> {
    const before = await this.#page({ last: BEFORE, before: line })
    this.#older = before.pageInfo.hasPreviousPage ? before.pageInfo.startCursor : null
    this.#add(before, 'before')
    this.#newer = before.edges.at(-1)?.cursor ?? null
    await this.#forward()
    this.loaded = true
    this.changed()
  }

  async #forward(): Promise<void> {
    const page = await this.#page({ first: PAGE, after: this.#newer })
    this.#followed = page.edges.at(-1)?.cursor ?? this.#newer
    this.#newer = page.pageInfo.hasNextPage ? page.pageInfo.endCursor : null
    this.#add(page, 'after')
  }

  /** Reads older pages until enough is found, or there are no more, or it takes long. */
  async #search(): Promise<void> {
    this.searching = true
    this.changed()
    try {
      const before = this.lines.length
      for (let request = 0; request < MAX_REQUESTS && this.lines.length - before < ENOUGH; request += 1) {
        const page = await this.#page({ last: PAGE, before: this.#older })
        this.#older = page.pageInfo.hasPreviousPage ? page.pageInfo.startCursor : null
        this.#add(page, 'before')
        if (this.#older === null) break
      }
      this.loaded = true
      this.error = null
    } finally {
      this.searching = false
      this.changed()
    }
  }

  #add({ edges }: Page, where: 'before' | 'after'): void {
    const lines = edges.map(({ cursor, node }) => ({ ...node, cursor })).filter((line) => this.#isWanted(line))
    this.lines = where === 'before' ? [...lines, ...this.lines] : [...this.lines, ...lines]
    this.changed()
  }

  #isWanted({ text }: Pick<Node, 'text'>): boolean {
    const { level } = this.#filter
    return level === null || isAtLeast(text, level)
  }

  async #page(range: {
    readonly first?: number
    readonly last?: number
    readonly after?: string | null
    readonly before?: string | null
  }): Promise<Page> {
    const none = { first: null, last: null, after: null, before: null }
    const variables = { filter: this.#input, ...none, ...range }
    const { output } = await this.#session.client.query(OUTPUT_PAGE, variables, { signal: this.#signal })
    if (!output) throw new Error('The server answered without the output.')
    return output
  }

  async #follow(): Promise<void> {
    this.live = true
    this.error = null
    this.changed()
    const known = new Set(this.lines.slice(-PAGE).map(({ cursor }) => cursor))
    let pending: OutputLine[] = []
    const flush = (): void => {
      const all = [...this.lines, ...pending]
      pending = []
      // Dropped lines can be read again.
      if (all.length > ROOM) this.#older = all.at(-ROOM)?.cursor ?? null
      this.lines = all.slice(-ROOM)
      this.changed()
    }
    const where = () => ({ filter: this.#input, after: this.#followed })
    for await (const { output: line } of this.#session.client.subscribe(OUTPUT_LIVE, where, {
      signal: this.#signal,
    })) {
      this.#followed = line.cursor
      if (known.has(line.cursor) || !this.#isWanted(line)) continue
      if (pending.push(line) === 1) setTimeout(flush, GATHER_MS)
    }
  }

  /** All that matches, oldest first, as text. `onProgress` hears how many lines there are so far. */
  async save(onProgress: (lines: number) => void): Promise<readonly string[]> {
    const texts: string[] = []
    const isOfOne = this.#filter.object !== ''
    let after: string | null = null
    do {
      const page: Page = await this.#page({ first: PAGE, after })
      for (const { node } of page.edges)
        if (this.#isWanted(node))
          texts.push(
            [node.at, ...(isOfOne ? [] : [node.object?.path ?? node.objectId]), node.stream, node.text].join(' '),
          )
      after = page.pageInfo.hasNextPage ? page.pageInfo.endCursor : null
      onProgress(texts.length)
    } while (after !== null && texts.length < MOST_SAVED)
    return texts
  }
}
