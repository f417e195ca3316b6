import { isWorkedKind, workedKinds } from '../model/known.ts'
import type { Row } from '../model/object.ts'
import { factsOf, type WorkFacts } from '../model/work-facts.ts'
import { batchFetcher } from './batched.ts'
import { WORK_FACTS } from './documents-graph.ts'
import { UPDATES } from './documents-time.ts'
import type { Session } from './session.ts'
import { Store } from './store.ts'

/** Progress and attempts of the objects that a graph draws one by one, kept live. */
export class WorkFactsStore extends Store {
  readonly #session: Session
  readonly #rootId: string
  readonly #signal: AbortSignal
  readonly #facts = new Map<string, WorkFacts>()
  readonly #fetch: (ids: readonly string[]) => void
  #wanted: ReadonlySet<string> = new Set()
  #isFollowing = false

  constructor(session: Session, rootId: string, signal: AbortSignal) {
    super()
    this.#session = session
    this.#rootId = rootId
    this.#signal = signal
    this.#fetch = batchFetcher(
      signal,
      async (ids) => (await session.client.query(WORK_FACTS, { ids }, { signal })).nodes,
      (found) => {
        for (const node of found) if (node.id !== undefined) this.#facts.set(node.id, factsOf(node))
        this.changed()
      },
    )
  }

  /** The same value until it changes. */
  of(id: string): WorkFacts | undefined {
    return this.#facts.get(id)
  }

  /** Reads what is not read yet, and from then on what changes. */
  want(rows: readonly Row[]): void {
    const ids = rows.filter(({ kind }) => isWorkedKind(kind)).map(({ id }) => id)
    const before = this.#wanted
    this.#wanted = new Set(ids)
    this.#fetch(ids.filter((id) => !before.has(id)))
    if (ids.length > 0) void this.#follow()
  }

  async #follow(): Promise<void> {
    if (this.#isFollowing) return
    this.#isFollowing = true
    const updates = this.#session.client.subscribe(
      UPDATES,
      { rootId: this.#rootId, kinds: workedKinds() },
      { signal: this.#signal, onConnected: () => this.#fetch([...this.#wanted]) },
    )
    try {
      for await (const { objectUpdates } of updates)
        if (this.#wanted.has(objectUpdates.objectId)) this.#fetch([objectUpdates.objectId])
    } catch {
      // The tree is gone, or the page is left. Phases have a stream of their own.
    }
  }
}
