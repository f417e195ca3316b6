import { nextCursor, nodesOf, readPages } from 'phaseline/client-model'
import type { Row } from '../model/object.ts'
import { ROOM } from '../model/tree-graph.ts'
import { type Dependency, TreeModel } from '../model/tree-model.ts'
import { rowFetcher } from './batched.ts'
import { DEPENDENCIES, ROWS_BY_ID, TREE } from './documents.ts'
import { TREE_LABELS } from './documents-graph.ts'
import type { ResultOf } from './gql.ts'
import { messageOf, readLive } from './live-read.ts'
import type { Session } from './session.ts'
import { Store } from './store.ts'

/** The first page takes a fifth of the time of the others: on two cores 20,000 objects are first drawn after 0.8 s; with a page of 5,000 after 1.5 s. */
const FIRST_PAGE = 1_000
const PAGE = 5_000
type Page = NonNullable<ResultOf<typeof TREE>['tree']>
const RELATE_MS = 400

/** One tree: read once with its sequence, then updated by the feed. The first page of a large one is shown at once. */
export class TreeStore extends Store {
  readonly model: TreeModel
  readonly #session: Session
  readonly #signal: AbortSignal
  state: 'loading' | 'ready' | 'missing' = 'loading'
  error: string | null = null
  /** Objects of the tree, of which only the first are shown yet; null: all are. */
  awaited: number | null = null
  #sequence = 0
  #relating: ReturnType<typeof setTimeout> | undefined

  constructor(session: Session, rootId: string, signal: AbortSignal) {
    super()
    this.model = new TreeModel(rootId, session.machines)
    this.#session = session
    this.#signal = signal
    const fetch = rowFetcher<Row>(
      signal,
      (ids) => session.client.query(ROWS_BY_ID, { ids }, { signal }),
      (rows, missing) => {
        this.model.put(rows)
        for (const id of missing) this.model.remove(id)
        this.changed()
      },
    )
    readLive(
      session.feed,
      {
        read: (reading) => this.#read(reading),
        apply: (changes) => {
          const news = changes.filter((change) => change.rootId === rootId && change.sequence > this.#sequence)
          if (news.length === 0) return
          const { fresh, ended } = this.model.change(news)
          fetch([...fresh, ...ended])
          // A new object has dependencies, and may be a dependency of known ones.
          if (fresh.length > 0) this.#relateSoon()
          this.changed()
        },
        failed: (error) => {
          this.error = messageOf(error)
          this.changed()
        },
      },
      signal,
    )
    signal.addEventListener('abort', () => clearTimeout(this.#relating))
  }

  async #read(signal: AbortSignal): Promise<void> {
    const { root, tree } = await this.#page(null, signal)
    if (!root || !tree) {
      this.state = 'missing'
      this.changed()
      return
    }
    // Later pages may be newer: changes after the first page's sequence that they have already are dropped by their
    // revision.
    this.#sequence = tree.sequence
    const { project, pause, ...named } = root
    const rowsOf = (page: Page): readonly Row[] =>
      nodesOf(page.objects).map((node) => ({ ...node, root: named, project, pause }))
    const rows = [...rowsOf(tree)]
    const dependencies = this.#readDependencies(signal, tree.relations)
    // They are read beside the other pages.
    dependencies.catch(() => undefined)
    let hasMoved = false
    for (let after = nextCursor(tree.objects); after !== null; ) {
      const { totalCount } = tree.objects
      // A tree that is whole after one more page is drawn once.
      if (this.state === 'loading' && totalCount && totalCount > rows.length + PAGE)
        this.#show(rows, await dependencies, totalCount)
      const { tree: page } = await this.#page(after, signal)
      hasMoved ||= page?.sequence !== tree.sequence
      rows.push(...(page ? rowsOf(page) : []))
      after = page && nextCursor(page.objects)
    }
    this.#show(rows, await dependencies, null)
    // New objects of later pages may have dependencies that were not there yet.
    if (hasMoved) this.#relateSoon()
    // A small tree has no groups. Without labels they are made by name.
    if (rows.length > ROOM) this.#readLabels(signal).catch(() => undefined)
  }

  #page(after: string | null, signal: AbortSignal): Promise<ResultOf<typeof TREE>> {
    const variables = {
      rootId: this.model.rootId,
      first: after === null ? FIRST_PAGE : PAGE,
      after,
      isFirst: after === null,
    }
    return this.#session.client.query(TREE, variables, { signal })
  }

  #show(rows: readonly Row[], dependencies: readonly Dependency[], awaited: number | null): void {
    this.model.replace(rows, dependencies, awaited !== null)
    this.awaited = awaited
    this.state = 'ready'
    this.error = null
    this.changed()
  }

  async #readLabels(signal: AbortSignal): Promise<void> {
    const read = await readPages(Number.POSITIVE_INFINITY, async (_, after) => {
      const variables = { rootId: this.model.rootId, first: PAGE, after }
      return (await this.#session.client.query(TREE_LABELS, variables, { signal })).tree?.objects ?? null
    })
    const labels = (read?.nodes ?? []).filter((node) => node.labels.length > 0)
    if (labels.length === 0) return
    this.model.label(
      new Map(labels.map((node) => [node.id, new Map(node.labels.map(({ key, value }) => [key, value]))])),
    )
    this.changed()
  }

  #relateSoon(): void {
    this.#relating ??= setTimeout(() => {
      this.#relating = undefined
      this.#readDependencies(this.#signal).then(
        (dependencies) => {
          this.model.relate(dependencies)
          this.changed()
        },
        () => this.#signal.aborted || this.#relateSoon(),
      )
    }, RELATE_MS)
  }

  /** @param first the first page, where it is there already */
  async #readDependencies(signal: AbortSignal, first?: Page['relations']): Promise<readonly Dependency[]> {
    const read = await readPages(Number.POSITIVE_INFINITY, async (_, after) => {
      if (first && after === null) return first
      const variables = { rootId: this.model.rootId, first: PAGE, after }
      return (await this.#session.client.query(DEPENDENCIES, variables, { signal })).tree?.relations ?? null
    })
    return read?.nodes ?? []
  }
}
