import type { PhaseChange } from 'phaseline/client'
import { Timeline } from '../model/timeline.ts'
import { readChanges, readTreeAt } from './changes-page.ts'
import { isRetryable, messageOf, readLive } from './live-read.ts'
import type { Session } from './session.ts'
import { Store } from './store.ts'

/** The most changes that are read of a long log: the whole life of 5,000 objects, and some 15 MB. */
export const MOST_CHANGES = 25_000
/** The most reads of past trees to find the parents of deleted objects. */
const MOST_LOOKS = 20
const AGAIN_MS = 2_000
const SETTLE_MS = 400

/** The history of a tree: the newest changes at once, all of them when a component needs them, then live. */
export class HistoryStore extends Store {
  readonly timeline: Timeline
  readonly #session: Session
  readonly #parents = new Map<string, string>()
  loaded = false
  error: string | null = null
  /** Cursor of the older part; null: the whole log was read. */
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

  /** Older changes are being read. */
  get isReading(): boolean {
    return this.#isReading
  }
  get hasOlder(): boolean {
    return this.#before !== null
  }
  /** The history reaches back to the tree's creation: it shows any moment. */
  get isComplete(): boolean {
    return this.loaded && !this.hasOlder && this.timeline.hasBeginning
  }
  /** Grows when another object becomes known, or the parent of one. */
  get structure(): number {
    return this.#structure + this.timeline.structure
  }
  /** The parent of a deleted object, once it is known. */
  parentOf(id: string): string | undefined {
    return this.#parents.get(id)
  }

  /** Reads the older part too, as far as the limit allows. */
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
        // A failure only leaves the row of an object elsewhere.
        .catch(() => undefined)
        .finally(() => {
          this.#looking = undefined
        })
    }, ms)
  }

  /** Finds parents in the tree as it was before the deletion, since changes do not name them. */
  async #look(signal: AbortSignal): Promise<void> {
    const { rootId, lanes } = this.timeline
    for (let looks = 0; looks < MOST_LOOKS && !signal.aborted; looks += 1) {
      // The first deleted object: those that were deleted later existed then too, or were created later.
      const first = Math.min(
        ...[...lanes.values()].flatMap(({ id, gone }) =>
          gone && id !== rootId && !this.#parents.has(id) ? [gone.sequence] : [],
        ),
      )
      if (first === Number.POSITIVE_INFINITY) return
      const objects = await readTreeAt(this.#session.client, { rootId, sequence: first - 1 }, signal)
      for (const { objectId, parentId } of objects) if (parentId) this.#parents.set(objectId, parentId)
      // An object that was not found is not looked up again.
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
