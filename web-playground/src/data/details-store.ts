import { DETAILS } from './documents-details.ts'
import { UPDATES } from './documents-time.ts'
import type { NodeOf, ResultOf } from './gql.ts'
import { messageOf } from './live-read.ts'
import type { Session } from './session.ts'
import { Store } from './store.ts'

export type Details = NonNullable<ResultOf<typeof DETAILS>['object']>
export type Blocker = Details['blockedBy'][number]
export type ObjectLink = NodeOf<Details['dependsOn']>

/** Delay after a change, so that several changes share a query. */
const SETTLE_MS = 120
/** Delay after changes of other objects of the tree, for which this one may wait. It is less urgent. */
const OTHERS_MS = 700
/**
 * Interval of queries: blockers can change without a phase change, as when an agent connects or another tree releases a
 * lock.
 */
const LOOK_AGAIN_MS = 15_000

/** All fields of one object. They are read again after a change of it or of its tree, and at intervals. */
export class DetailsStore extends Store {
  readonly #session: Session
  readonly #id: string
  readonly #signal: AbortSignal
  details: Details | null | undefined
  error: string | null = null
  #planned: ReturnType<typeof setTimeout> | undefined
  #plannedAt = 0
  #reads = 0
  #shown = 0
  #isFollowing = false
  #awaiting: (() => void)[] = []

  constructor(session: Session, id: string, signal: AbortSignal) {
    super()
    this.#session = session
    this.#id = id
    this.#signal = signal
    const stop = session.feed.listen({
      changes: (changes) => {
        const rootId = this.details?.root.id
        if (changes.some((change) => change.objectId === id)) this.#plan(SETTLE_MS)
        else if (changes.some((change) => change.rootId === rootId)) this.#plan(OTHERS_MS)
      },
      reset: () => this.#plan(SETTLE_MS),
    })
    const again = setInterval(() => document.hidden || this.#plan(SETTLE_MS), LOOK_AGAIN_MS)
    signal.addEventListener('abort', () => {
      stop()
      clearInterval(again)
      clearTimeout(this.#planned)
    })
    void this.#read()
  }

  /** Resolves once the object is shown as it is after now, or could not be read. */
  readonly refresh = (): Promise<void> => {
    this.#plan(SETTLE_MS)
    return new Promise((resolve) => this.#awaiting.push(resolve))
  }

  #plan(afterMs: number): void {
    const at = performance.now() + afterMs
    if (this.#planned !== undefined && this.#plannedAt <= at) return
    clearTimeout(this.#planned)
    this.#plannedAt = at
    this.#planned = setTimeout(() => {
      // Reset before the read, so that a change during the read plans another one.
      this.#planned = undefined
      void this.#read()
    }, afterMs)
  }

  /** Progress, errors and labels are no phase changes: they have a stream of their own. */
  async #follow({ root, kind }: Details): Promise<void> {
    if (this.#isFollowing) return
    this.#isFollowing = true
    const { client } = this.#session
    const updates = client.subscribe(
      UPDATES,
      { rootId: root.id, kinds: [kind] },
      { signal: this.#signal, onConnected: () => this.#plan(SETTLE_MS) },
    )
    try {
      for await (const { objectUpdates } of updates) {
        if (objectUpdates.objectId === this.#id && objectUpdates.revision !== this.details?.revision)
          this.#plan(SETTLE_MS)
      }
    } catch {
      // Without the stream the interval still reads them.
    }
  }

  async #read(): Promise<void> {
    const awaiting = this.#awaiting
    this.#awaiting = []
    await this.#readObject()
    for (const resolve of awaiting) resolve()
  }

  async #readObject(): Promise<void> {
    this.#reads += 1
    const mine = this.#reads
    try {
      const { object } = await this.#session.client.query(DETAILS, { id: this.#id }, { signal: this.#signal })
      // An overtaken answer is older than the shown one. One that only has others behind it is not, or none might ever
      // be shown.
      if (mine < this.#shown) return
      this.#shown = mine
      this.details = object
      this.error = null
      if (object) void this.#follow(object)
    } catch (error) {
      if (this.#signal.aborted || mine < this.#shown) return
      this.error = messageOf(error)
    }
    this.changed()
  }
}
