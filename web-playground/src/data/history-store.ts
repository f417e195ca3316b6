import type { PhaseChange } from 'phaseline/client'
import { Timeline } from '../model/timeline.ts'
import { readChanges, readTreeAt } from './changes-page.ts'
import { isRetryable, messageOf, readLive } from './live-read.ts'
import type { Session } from './session.ts'
import { Store } from './store.ts'

/** Of a long log no more than this is read: the whole life of 5,000 objects, and some 15 MB. */
export const MOST_CHANGES = 25_000
/** Looks at the tree as it was, to learn where gone objects were in it. */
const MOST_LOOKS = 20
const AGAIN_MS = 2_000
const SETTLE_MS = 400

/** How a tree came to be as it is: the newest changes at once, all of them when somebody wants them, then live. */
export class HistoryStore extends Store {
  readonly timeline: Timeline
  readonly #session: Session
  readonly #parents = new Map<string, string>()
  loaded = false
  error: string | null = null
  /** Where the older part begins; null: all that the log has was read. */
  #before: string | null = null
  #isWanted = false
  #isReading = false
  #signal: AbortSignal
  #looking: ReturnType<typeof setTimeout> | undefined
  #structure = 0

  constructor(session: Session, rootId: string, signal: AbortSignal) {
    super()
    this.timeline = new Timeline(rootId, session.machines)
    this.#session = session
    this.#signal = signal
    readLive(
      session.feed,
      {
        read: (reading) => this.#read(reading),
        apply: (changes) => this.#apply(changes),
        failed: this.#fail,
      },
      signal,
    )
    signal.addEventListener('abort', () => clearTimeout(this.#looking))
  }

  /** Older changes are on their way. */
  get isReading(): boolean {
    return this.#isReading
  }
  get hasOlder(): boolean {
    return this.#before !== null
  }
  /** All is known from the creation of the tree on: any moment can be told from it. */
  get isComplete(): boolean {
    return this.loaded && !this.hasOlder && this.timeline.hasBeginning
  }
  /** Grows when it is known of another object, or where one was. */
  get structure(): number {
    return this.#structure + this.timeline.structure
  }
  /** Where an object was that is gone, once that is known. */
  parentOf(id: string): string | undefined {
    return this.#parents.get(id)
  }

  /** Somebody looks at it: the older part is read too, as far as there is room. */
  readonly want = (): void => {
    if (this.#isWanted) return
    this.#isWanted = true
    if (this.loaded) void this.#readOlder(this.#signal)
  }

  async #read(signal: AbortSignal): Promise<void> {
    const { changes, before } = await this.#page(null, signal)
    this.timeline.replace(changes)
    this.#parents.clear()
    this.#signal = signal
    this.#before = before
    this.loaded = true
    this.error = null
    this.changed()
    if (this.#isWanted) void this.#readOlder(signal)
  }

  #apply(changes: readonly PhaseChange[]): void {
    const news = this.timeline.append(changes)
    if (news.length === 0) return
    if (this.#isWanted && news.some(({ to, rejected }) => to === 'GONE' && !rejected)) this.#lookAfter(SETTLE_MS)
    this.changed()
  }

  async #readOlder(signal: AbortSignal): Promise<void> {
    this.#isReading = true
    while (this.#before !== null && this.timeline.changes.length < MOST_CHANGES && !signal.aborted) {
      try {
        const { changes, before } = await this.#page(this.#before, signal)
        this.timeline.prepend(changes)
        this.#before = before
        this.error = null
        this.changed()
      } catch (error) {
        if (signal.aborted) return
        this.#fail(error)
        if (!isRetryable(error)) break
        await new Promise((resolve) => setTimeout(resolve, AGAIN_MS))
      }
    }
    if (signal.aborted) return
    this.#isReading = false
    this.changed()
    this.#lookAfter(0)
  }

  #page(before: string | null, signal: AbortSignal) {
    return readChanges(this.#session.client, { rootId: this.timeline.rootId }, { before, signal })
  }

  #lookAfter(ms: number): void {
    this.#looking ??= setTimeout(() => {
      this.#look(this.#signal)
        // A row in another place is all that is lost.
        .catch(() => undefined)
        .finally(() => {
          this.#looking = undefined
        })
    }, ms)
  }

  /** The log does not say what an object was part of: the tree as it was before it went does. */
  async #look(signal: AbortSignal): Promise<void> {
    const { rootId, lanes } = this.timeline
    for (let looks = 0; looks < MOST_LOOKS && !signal.aborted; looks += 1) {
      // The first that went: whatever went later was there too, or came later.
      const first = Math.min(
        ...[...lanes.values()].flatMap(({ id, gone }) =>
          gone && id !== rootId && !this.#parents.has(id) ? [gone.sequence] : [],
        ),
      )
      if (first === Number.POSITIVE_INFINITY) return
      const objects = await readTreeAt(this.#session.client, { rootId, sequence: first - 1 }, signal)
      for (const { objectId, parentId } of objects) if (parentId) this.#parents.set(objectId, parentId)
      // Whatever could not be found is not looked for again.
      for (const { id, gone } of lanes.values()) {
        if (gone?.sequence === first && !this.#parents.has(id)) this.#parents.set(id, rootId)
      }
      this.#structure += 1
      this.changed()
    }
  }

  readonly #fail = (error: unknown): void => {
    this.error = messageOf(error)
    this.changed()
  }
}
