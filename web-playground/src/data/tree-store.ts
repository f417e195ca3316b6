import { readPages } from 'phaseline/client-model'
import type { Row } from '../model/object.ts'
import { ROOM } from '../model/tree-graph.ts'
import { type Dependency, TreeModel } from '../model/tree-model.ts'
import { rowFetcher } from './batched.ts'
import { RELATIONS, ROWS_BY_ID, TREE } from './documents.ts'
import { TREE_LABELS } from './documents-graph.ts'
import type { ResultOf } from './gql.ts'
import { messageOf, readLive } from './live-read.ts'
import type { Session } from './session.ts'
import { Store } from './store.ts'

const PAGE = 5_000
/** The cost of an operation is bounded, so a page of whole rows is smaller. */
const ROWS_PAGE = 4_000
const RELATE_MS = 400

/** One tree: read once with its sequence, then updated by the feed. */
export class TreeStore extends Store {
  readonly model: TreeModel
  readonly #session: Session
  readonly #signal: AbortSignal
  state: 'loading' | 'ready' | 'missing' = 'loading'
  error: string | null = null
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
    const { client } = this.#session
    const rows: Row[] = []
    let sequence: number | undefined
    for (let after: string | null = null, more = true; more; ) {
      const { tree }: ResultOf<typeof TREE> = await client.query(
        TREE,
        { rootId: this.model.rootId, first: ROWS_PAGE, after },
        { signal },
      )
      if (!tree) {
        this.state = 'missing'
        this.changed()
        return
      }
      // Later pages may be newer: changes after the first page's sequence that they have already are dropped by their
      // revision.
      sequence ??= tree.sequence
      for (const { node } of tree.objects.edges) rows.push(node)
      more = tree.objects.pageInfo.hasNextPage
      after = tree.objects.pageInfo.endCursor
    }
    this.model.replace(rows, await this.#readDependencies(signal))
    this.#sequence = sequence ?? 0
    this.state = 'ready'
    this.error = null
    this.changed()
    // A small tree has no groups. Without labels they are made by name.
    if (rows.length > ROOM) this.#readLabels(signal).catch(() => undefined)
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

  async #readDependencies(signal: AbortSignal): Promise<readonly Dependency[]> {
    const read = await readPages(Number.POSITIVE_INFINITY, async (_, after) => {
      const variables = { rootId: this.model.rootId, first: PAGE, after }
      return (await this.#session.client.query(RELATIONS, variables, { signal })).tree?.relations ?? null
    })
    return (read?.nodes ?? []).filter(({ kind }) => kind === 'DEPENDS_ON')
  }
}
