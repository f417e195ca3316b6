import type { Row } from '../model/object.ts'
import { PastTree } from '../model/past-tree.ts'
import { type ObjectState, readTreeAt } from './changes-page.ts'
import type { HistoryStore } from './history-store.ts'
import { messageOf } from './live-read.ts'
import type { Session } from './session.ts'
import { Store } from './store.ts'
import type { TreeStore } from './tree-store.ts'

/** While a slider moves, only the moment at which it pauses is queried. */
const SETTLE_MS = 100

interface Sources {
  readonly tree: TreeStore
  readonly history: HistoryStore
}

/** The tree at a past moment: derived from its log where all of that is known, and queried where it is not. */
export class PastStore extends Store {
  readonly model: PastTree
  readonly #session: Session
  readonly #sources: Sources
  readonly #signal: AbortSignal
  #asking: AbortController | undefined
  #wanted: number | null = null
  /** The shown tree; null: none yet. */
  sequence: number | null = null
  error: string | null = null

  constructor(session: Session, sources: Sources, signal: AbortSignal) {
    super()
    this.model = new PastTree(sources.tree.model.rootId)
    this.#session = session
    this.#sources = sources
    this.#signal = signal
    signal.addEventListener('abort', () => this.#asking?.abort())
    // An object that the log shows gets its parent once that is known.
    const stop = sources.history.watch(() => {
      if (this.#wanted !== null && this.#structure !== sources.history.structure) this.#tell(this.#wanted)
    })
    signal.addEventListener('abort', stop)
  }
  #structure = -1

  /** Shows a moment; the same one again changes nothing. */
  show(sequence: number | null): void {
    if (sequence === this.#wanted) return
    this.#asking?.abort()
    this.#wanted = sequence
    if (sequence === null) this.sequence = null
    else if (!this.#tell(sequence)) void this.#ask(sequence)
  }

  readonly retry = (): void => {
    const sequence = this.#wanted
    this.#wanted = null
    this.show(sequence)
  }

  /** Derives the moment from the log; false while that lacks something, e.g. the parent of an object. */
  #tell(sequence: number): boolean {
    const { history } = this.#sources
    if (!history.isComplete) return false
    this.#structure = history.structure
    const objects = [...history.timeline.at(sequence)].map(([objectId, { phase, from, change }]): ObjectState => {
      const { kind = '', name = '' } = history.timeline.lanes.get(objectId) ?? {}
      const phaseSince = change?.at ?? new Date(from).toISOString()
      return { objectId, parentId: this.#parentOf(objectId), kind, name, phase, phaseSince, revision: 0 }
    })
    if (objects.some(({ objectId, parentId }) => parentId === null && objectId !== this.model.rootId)) return false
    this.#put(sequence, objects)
    return true
  }

  #parentOf(id: string): string | null {
    const { rootId } = this.model
    const { tree, history } = this.#sources
    return id === rootId ? null : (tree.model.parentOf(id) ?? history.parentOf(id) ?? null)
  }

  async #ask(sequence: number): Promise<void> {
    const asking = new AbortController()
    this.#asking = asking
    const signal = AbortSignal.any([asking.signal, this.#signal])
    try {
      await new Promise((resolve) => setTimeout(resolve, SETTLE_MS))
      if (signal.aborted) return
      const objects = await readTreeAt(this.#session.client, { rootId: this.model.rootId, sequence }, signal)
      if (!signal.aborted) this.#put(sequence, objects)
    } catch (error) {
      if (signal.aborted) return
      this.error = messageOf(error)
      this.changed()
    }
  }

  #put(sequence: number, objects: readonly ObjectState[]): void {
    const { model } = this.#sources.tree
    const { machines } = this.#session
    const { rootId } = this.model
    const root = { id: rootId, name: this.#sources.history.timeline.lanes.get(rootId)?.name ?? '' }
    const project = model.root?.project ?? { name: this.#sources.history.timeline.last?.projectName ?? '' }
    const rows = objects.map(
      ({ objectId, parentId, kind, ...state }): Row => ({
        id: objectId,
        kind,
        // The present order; the past one is unknown.
        ordinal: model.nodes.get(objectId)?.ordinal,
        ...state,
        parent: parentId === null ? null : { id: parentId },
        createdAt: state.phaseSince,
        finished: machines.isFinal(kind, state.phase),
        project,
        root,
        error: null,
        pendingRequests: [],
      }),
    )
    // Dependencies of deleted objects are unknown, so they get no line.
    this.model.show(rows, model.dependencies)
    this.sequence = sequence
    this.error = null
    this.changed()
  }
}
