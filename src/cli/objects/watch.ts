import { setTimeout as sleep } from 'node:timers/promises'
import { ClientError } from '../../client/client-error.ts'
import type { Client } from '../../client/index.ts'
import { logRangeOf } from '../../client/phase-log.ts'
import { gql } from '../../documents/gql.ts'
import type { ResultOf } from '../../documents/typed-document.ts'
import type { Session } from '../session.ts'
import type { Io, Output } from '../terminal/io.ts'
import { isTerminal, painter, wantsColour } from '../terminal/paint.ts'
import { TREE_FIELDS } from '../tree/fields.ts'
import { TreeModel } from '../tree/model.ts'
import { liveTree, type Presenter, treeJson, treeLines } from '../tree/presenter.ts'
import { type LiveTree, readForecast, readObjects, readTree } from '../tree/read.ts'
import { decisionsIn } from '../tree/undecided.ts'
import { readMachines } from './machines.ts'
import { readAgain } from './read-again.ts'
import { endOf, endOfGone, type WatchResult } from './watch-end.ts'

export interface WatchOptions {
  readonly out: Output
  /** Ends the watch early, with the outcome `interrupted`. */
  readonly signal: AbortSignal
  /** `finished` (default): until no job is outstanding, or the object is gone. */
  readonly until?: 'finished' | 'never'
  /** The object to show and to wait for, when it is not the root. */
  readonly focusId?: string
  readonly json?: boolean
  /** Lines that others print on the terminal of `out`. */
  readonly notes?: Session['notes']
  /** For NO_COLOR, FORCE_COLOR and TERM; the process's own by default. */
  readonly env?: Io['env']
}

const REFRESH_MS = 1000
/** Interval of queries for blockers while nothing changes: capacity, locks and agents change without a phase change. */
const QUIET_ROUNDS = 5
/** Objects of one query for blockers. */
const REFRESHED = 50

const UPDATES = gql(`subscription Updates($rootId: ID!) {
  objectUpdates(rootId: $rootId) { objectId revision object { ...TreeFields } }
}\n${TREE_FIELDS}`)
type Update = ResultOf<typeof UPDATES>['objectUpdates']

/**
 * Shows a tree live on `out`: redrawn on a terminal, one line per phase change elsewhere, NDJSON with `json`. It reads
 * one snapshot, then follows phase changes from its sequence and updates of single objects. It reads the whole tree
 * again only when the log has lost that place.
 * @throws ClientError when the server cannot be reached or refuses
 */
export async function watchTree(client: Client, rootId: string, options: WatchOptions): Promise<WatchResult> {
  const stop = new AbortController()
  using presenter = presenterFor(options)
  using _notes = options.notes?.listen(() => presenter.moved())
  const watch = new TreeWatch(client, rootId, presenter, {
    ...options,
    signal: AbortSignal.any([options.signal, stop.signal]),
  })
  try {
    return await watch.run()
  } catch (error) {
    // A failure that the user's interrupt caused is not reported.
    if (options.signal.aborted) return watch.interrupted
    throw error
  } finally {
    stop.abort()
  }
}

function presenterFor({ out, json, env = process.env }: WatchOptions): Presenter {
  if (json) return treeJson(out)
  const paint = painter(wantsColour(out, env))
  return isTerminal(out, env) ? liveTree(out, paint) : treeLines(out, paint)
}

class TreeWatch {
  readonly #client: Client
  readonly #rootId: string
  /** True once the result is printed: changes that had arrived by then are not printed after it. */
  #presenter: Presenter | undefined
  readonly #options: WatchOptions
  readonly #focusId: string
  readonly #ended = Promise.withResolvers<WatchResult>()
  readonly #loaded = Promise.withResolvers<TreeModel>()
  #model: TreeModel | undefined
  #gone: Promise<WatchResult> | undefined
  /** Revisions of the snapshot: it may have changes that come after its place in the log. */
  #shown: ReadonlyMap<string, number> = new Map()
  /** Counts changes, so that a tree without any is not queried. */
  #news = 0

  constructor(client: Client, rootId: string, presenter: Presenter, options: WatchOptions) {
    this.#client = client
    this.#rootId = rootId
    this.#presenter = presenter
    this.#options = options
    this.#focusId = options.focusId ?? rootId
  }

  get interrupted(): WatchResult {
    const { phase = 'UNKNOWN', error = null } = this.#model?.root ?? {}
    return { outcome: 'interrupted', phase, error }
  }

  async run(): Promise<WatchResult> {
    const { signal } = this.#options
    const interrupted = new Promise<WatchResult>((resolve) => {
      signal.addEventListener('abort', () => resolve(this.interrupted), { once: true })
    })
    // Subscribes before it reads the snapshot, so that no update falls between the two.
    const updates = this.#followUpdates()
    const model = await this.#load()
    if (!model) return await this.#endUnseen()
    const tasks = [updates, this.#followPhases(model.cursor, model.tree), this.#keepFresh(model.tree)]
    const failed = Promise.all(tasks).then(() => this.#ended.promise)
    const result = await Promise.race([this.#ended.promise, failed, interrupted])
    this.#end(model.tree, result)
    return result
  }

  /** The object was gone before the first read. */
  async #endUnseen(): Promise<WatchResult> {
    const { signal } = this.#options
    const machines = await readMachines(this.#client, signal)
    const { name, ...result } = await endOfGone(this.#client, { id: this.#focusId, machines, signal })
    this.#end(new TreeModel(this.#focusId, machines, name), result)
    return result
  }

  #end(tree: TreeModel, result: WatchResult): void {
    this.#presenter?.ended(tree, result)
    this.#presenter = undefined
  }

  async #load(): Promise<{ readonly tree: TreeModel; readonly cursor: string } | null> {
    const { signal } = this.#options
    const [machines, snapshot] = await Promise.all([
      readMachines(this.#client, signal),
      readTree(this.#client, this.#rootId, signal),
    ])
    const tree = new TreeModel(this.#focusId, machines)
    for (const object of snapshot?.objects ?? []) tree.put(object)
    if (!snapshot || !tree.root) return null
    this.#model = tree
    this.#shown = revisionsOf(snapshot)
    this.#presenter?.loaded(tree, snapshot)
    this.#loaded.resolve(tree)
    return { tree, cursor: snapshot.cursor }
  }

  async #followPhases(from: string, tree: TreeModel): Promise<void> {
    const { signal } = this.#options
    for (let after: string | null = from; after !== null; ) {
      try {
        await this.#readPhases(after, tree)
        if (signal.aborted) return
        throw new ClientError('network', 'The stream of phase changes ended.')
      } catch (error) {
        if (!logRangeOf(error)) throw error
        after = await this.#reload(tree)
      }
    }
  }

  async #readPhases(after: string, tree: TreeModel): Promise<void> {
    const { signal } = this.#options
    const batches = this.#client.followPhases({ filter: { rootId: this.#rootId }, after, signal })
    for await (const batch of batches) {
      const changes = batch.changes.filter(
        ({ objectId, revision }) => revision === 0 || revision > (this.#shown.get(objectId) ?? -1),
      )
      const created = changes.filter(({ objectId, to }) => to !== 'GONE' && !tree.knows(objectId))
      const ids = [...new Set(created.map(({ objectId }) => objectId))]
      const read = await readAgain(signal, () => readObjects(this.#client, ids, { signal }))
      for (const object of read) tree.put(object)
      for (const change of changes) {
        this.#presenter?.change(change, tree)
        tree.change(change)
      }
      this.#news += changes.length
      await this.#judge(tree)
    }
  }

  /**
   * Reads the tree again and returns its sequence; null when the tree is gone. The changes in between are lost, the
   * present state is not.
   */
  async #reload(tree: TreeModel): Promise<string | null> {
    const snapshot = await readTree(this.#client, this.#rootId, this.#options.signal)
    tree.replace(snapshot?.objects ?? [])
    this.#shown = revisionsOf(snapshot)
    this.#presenter?.reloaded(tree, snapshot)
    this.#news += 1
    await this.#judge(tree)
    return snapshot?.cursor ?? null
  }

  async #followUpdates(): Promise<void> {
    const { signal } = this.#options
    try {
      for await (const { objectUpdates } of this.#client.subscribe(UPDATES, { rootId: this.#rootId }, { signal })) {
        const tree = await this.#loaded.promise
        this.#take(objectUpdates, tree)
        await this.#judge(tree)
      }
    } catch (error) {
      // Updates only add details, which are also queried from time to time: phases come from the log.
      if (!signal.aborted && !(error instanceof ClientError)) throw error
    }
  }

  #take({ objectId, object }: Update, tree: TreeModel): void {
    if (!object) tree.remove(objectId)
    else {
      tree.put(object)
      this.#presenter?.update(object, tree)
    }
    this.#news += 1
  }

  /** Queries what unfinished objects wait for, and why failed ones failed, as long as the watch lasts. */
  async #keepFresh(tree: TreeModel): Promise<void> {
    const { signal } = this.#options
    let seen = this.#news
    let held = 0
    for (let round = 0; !signal.aborted; round += 1) {
      if (this.#news !== seen || round % QUIET_ROUNDS === 0) {
        seen = this.#news
        await this.#refresh(tree)
      }
      if (round % QUIET_ROUNDS === 0 && !this.#options.json) await this.#expect(tree)
      await this.#judge(tree)
      this.#presenter?.refresh(tree)
      held = this.#judgeHeld(tree, held)
      await sleep(REFRESH_MS, undefined, { signal })
    }
  }

  /** Ends the watch when only a person's decision lets the tree resume, in this round and the last; returns the rounds. */
  #judgeHeld(tree: TreeModel, rounds: number): number {
    const { root } = tree
    const decisions = root && this.#options.until !== 'never' ? decisionsIn(tree) : []
    if (!root || decisions.length === 0) return 0
    const { phase, error } = root
    if (rounds > 0) this.#ended.resolve({ outcome: 'undecided', phase, error, decisions })
    return rounds + 1
  }

  /** Queries when it is expected to end, which costs the server more than the rest. */
  async #expect(tree: TreeModel): Promise<void> {
    try {
      tree.forecast = await readForecast(this.#client, this.#focusId, this.#options.signal)
    } catch (error) {
      if (!(error instanceof ClientError && error.kind === 'network')) throw error
    }
  }

  /** True once the model is up to date. */
  async #refresh(tree: TreeModel): Promise<boolean> {
    const { signal } = this.#options
    const ids = refreshable(tree)
    try {
      const found = await readObjects(this.#client, ids, { signal, blockers: true })
      for (const object of found) tree.put(object)
      if (!found.some(({ id }) => id === this.#focusId)) tree.remove(this.#focusId)
      return true
    } catch (error) {
      // The stream reconnects by itself and reports when it cannot. Until then the view is only a little older.
      if (!(error instanceof ClientError && error.kind === 'network')) throw error
      return false
    }
  }

  /** Ends the watch when its condition is met. */
  async #judge(tree: TreeModel): Promise<void> {
    const { until = 'finished', signal } = this.#options
    if (until === 'never') return
    // A final phase may be left at once for a job that was requested meanwhile, and does not show what was undone: only
    // the object itself does.
    if (tree.root && !(tree.root.finished && (await this.#refresh(tree)))) return
    const { root } = tree
    if (root?.finished) return this.#ended.resolve(endOf(root, tree.machines))
    if (root) return
    this.#gone ??= endOfGone(this.#client, { id: this.#focusId, machines: tree.machines, signal })
    this.#ended.resolve(await this.#gone)
  }
}

function refreshable(tree: TreeModel): string[] {
  const ids = new Set([tree.rootId, ...[...tree.unexplained].slice(0, REFRESHED)])
  for (const { id, finished } of tree.nodes.values()) {
    if (ids.size >= REFRESHED) break
    if (!finished) ids.add(id)
  }
  return [...ids]
}

const revisionsOf = (snapshot: LiveTree | null): ReadonlyMap<string, number> =>
  new Map(snapshot?.objects.map(({ id, revision }) => [id, revision]))
