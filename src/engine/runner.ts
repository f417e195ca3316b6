import type { Evaluated, Work } from '../core/tree.ts'
import type { Logger } from '../logger.ts'
import type { LoadedNode } from '../store/load-nodes.ts'
import { forgetRoot } from '../store/queue.ts'
import { RevisionConflict } from '../store/transition.ts'
import type { Evaluate } from './evaluate.ts'
import type { Handing } from './handing.ts'
import type { KeptItems } from './kept-items.ts'
import { KeptSpecs } from './kept-specs.ts'
import { runToFixpoint } from './run-to-fixpoint.ts'
import type { Evaluation, TreeSlice } from './slice.ts'
import { type Aftermath, closeTree, type EngineParts, type OpenTree, openTree, takeWord } from './transaction.ts'

/** At most so many phase writes in one transaction: then other trees have their turn. */
const BUDGET = 2_000
const RETRIES = 3

/** Something to be done to one tree: an agent's claims or reports. Tasks of one tree that meet share a transaction. */
export interface TreeTask<T> {
  /** Objects that it needs to see. */
  readonly ids: readonly string[]
  /** Most of them end: what waits for them is looked at too. */
  readonly ends: boolean
  /** Whether it can be done on what this process remembers of an object; what it decides without writing is done again. */
  knows(work: Work, now: Date): boolean
  apply(slice: TreeSlice): T
}

export type Ran<T> = { readonly found: true; readonly value: T } | { readonly found: false }

interface Entry {
  readonly task: TreeTask<unknown>
  resolve(ran: Ran<unknown>): void
  reject(error: unknown): void
}
interface Lane {
  entries: Entry[]
  word: { resolve: (outcome: Looked) => void; reject: (error: unknown) => void; skipLocked: boolean }[]
}

/** `locked`: another engine has it. */
export type Looked = 'done' | 'gone' | 'locked'

export type Announce = (aftermath: Aftermath) => void

export interface RunnerParts {
  readonly parts: EngineParts
  readonly evaluate: Evaluate
  readonly announce: Announce
  readonly handing: Handing
  readonly kept: KeptItems
  readonly logger: Logger
}

/** All of this process's transactions on trees. One at a time for each tree; what arrives meanwhile joins the next. */
export class TreeRunner {
  readonly #lanes = new Map<string, Lane>()
  readonly #inFlight = new Set<Promise<void>>()
  readonly #parts: EngineParts
  readonly #evaluate: Evaluate
  readonly #announce: Announce
  readonly #handing: Handing
  readonly #kept: KeptItems
  readonly #specs = new KeptSpecs()
  readonly #logger: Logger

  constructor({ parts, evaluate, announce, handing, kept, logger }: RunnerParts) {
    this.#parts = parts
    this.#evaluate = evaluate
    this.#announce = announce
    this.#handing = handing
    this.#kept = kept
    this.#logger = logger
  }

  run<T>(rootId: string, task: TreeTask<T>): Promise<Ran<T>> {
    return new Promise((resolve, reject) => {
      this.#lane(rootId).entries.push({ task, resolve: resolve as (ran: Ran<unknown>) => void, reject })
    })
  }

  /** What is remembered may be of a database that is not there any more. */
  forget(): void {
    this.#kept.clear()
    this.#specs.clear()
  }

  /** The tree of an object, if this process remembers it: the object may be gone by now. */
  rootOf(objectId: string): string | undefined {
    return this.#kept.rootOf(objectId)
  }

  /** Takes in what was left word of, and what the clock says, and lets the tree go on as far as it can. */
  look(rootId: string, skipLocked: boolean): Promise<Looked> {
    return new Promise((resolve, reject) => {
      this.#lane(rootId).word.push({ resolve, reject, skipLocked })
    })
  }

  /** Everything in hand is finished. */
  async idle(): Promise<void> {
    while (this.#inFlight.size > 0) await Promise.all(this.#inFlight)
  }

  #lane(rootId: string): Lane {
    const known = this.#lanes.get(rootId)
    if (known) return known
    const lane: Lane = { entries: [], word: [] }
    this.#lanes.set(rootId, lane)
    const drained = Promise.resolve()
      .then(() => this.#drain(rootId, lane))
      .finally(() => this.#inFlight.delete(drained))
    this.#inFlight.add(drained)
    return lane
  }

  async #drain(rootId: string, lane: Lane): Promise<void> {
    while (lane.entries.length > 0 || lane.word.length > 0) {
      const entries = lane.entries.splice(0)
      if (entries.length > 0) await this.#runEntries(rootId, entries)
      // Reports first: what they leave is then part of the same look.
      const word = lane.word.splice(0)
      if (word.length > 0) await this.#runWord(rootId, word)
    }
    this.#lanes.delete(rootId)
  }

  async #runEntries(rootId: string, entries: readonly Entry[]): Promise<void> {
    try {
      const outcome = await this.#attempt(rootId, entries).catch((error) =>
        this.#withoutDeciding(rootId, entries, error),
      )
      entries.forEach((entry, i) => {
        const result = outcome?.[i]
        if (!result) entry.resolve({ found: false })
        else if ('error' in result) entry.reject(result.error)
        else entry.resolve({ found: true, value: result.value })
      })
    } catch (error) {
      for (const entry of entries) entry.reject(error)
    }
  }

  /** What an agent said must not be lost because the tree cannot decide what follows from it. */
  #withoutDeciding(rootId: string, entries: readonly Entry[], error: unknown) {
    this.#logger.error({ err: error, rootId }, 'a tree could not decide: the report is kept, the engine will try again')
    return this.#attempt(rootId, entries, false)
  }

  async #attempt(rootId: string, entries: readonly Entry[], deciding = true): Promise<readonly Applied[] | null> {
    const ids = entries.flatMap(({ task }) => task.ids)
    const ending = deciding ? entries.flatMap(({ task }) => (task.ends ? task.ids : [])) : []
    return this.#retrying(async (isFirst) => {
      const done = await this.#handing.transaction(async (given, handOver) => {
        // Only now: a connection that is new may be to another database, and then nothing is remembered any more.
        const kept = isFirst && deciding ? this.#recall(rootId, entries) : new Map<string, LoadedNode>()
        const tree = await openTree(given, rootId, this.#parts, {
          ids,
          ending,
          kept,
          keptSpecs: this.#specs.of(rootId),
        })
        if (typeof tree === 'string') return null
        checkKnown(entries, kept, tree.slice.now)
        const applied = entries.map(({ task }) => attempt(() => task.apply(tree.slice)))
        const { kinds } = this.#parts
        const left = deciding ? await runToFixpoint(given.client, tree.slice, kinds, BUDGET) : touchedIds(tree.slice)
        if (deciding) handOver(tree.slice)
        const aftermath = await closeTree(tree, this.#parts, left, false)
        checkWritten(tree.slice, kept)
        return { applied, aftermath, left, slice: tree.slice }
      })
      if (!done) return null
      this.#kept.keep(done.slice)
      if (done.left.size > 0) this.#specs.keep(done.slice, done.left)
      this.#announce(done.aftermath)
      return done.applied
    })
  }

  /** An object that several want to see must do for all of them. */
  #recall(rootId: string, entries: readonly Entry[]): ReadonlyMap<string, LoadedNode> {
    const tasks = new Map<string, TreeTask<unknown>[]>()
    for (const { task } of entries) for (const id of task.ids) tasks.set(id, [...(tasks.get(id) ?? []), task])
    const now = this.#parts.system.now()
    return this.#kept.find(
      rootId,
      tasks.keys(),
      (id, work) => tasks.get(id)?.every((task) => task.knows(work, now)) ?? false,
    )
  }

  async #runWord(rootId: string, word: Lane['word']): Promise<void> {
    try {
      const looked = await this.#lookAt(
        rootId,
        word.every(({ skipLocked }) => skipLocked),
      )
      for (const { resolve } of word) resolve(looked)
    } catch (error) {
      for (const { reject } of word) reject(error)
    }
  }

  async #lookAt(rootId: string, skipLocked: boolean): Promise<Looked> {
    let evaluated: ReadonlyMap<string, Evaluated> = new Map()
    for (;;) {
      const seen = await this.#retrying(() => this.#lookOnce(rootId, skipLocked, evaluated))
      if (typeof seen === 'string') {
        if (seen === 'gone') await forgetRoot(this.#parts.pool, rootId)
        return seen
      }
      // Outside of the lock: slow or hostile expressions hold up nobody.
      if (seen.evaluations.length > 0) evaluated = await this.#evaluate(seen.evaluations)
      // Stopped by its budget with results in hand: they are used up before others have their turn.
      else if (evaluated.size === 0 || !seen.more) return 'done'
    }
  }

  async #lookOnce(rootId: string, skipLocked: boolean, evaluated: ReadonlyMap<string, Evaluated>): Promise<LookedOnce> {
    const seen = await this.#handing.transaction(async (given, handOver) => {
      const tree = await openTree(given, rootId, this.#parts, {
        skipLocked,
        evaluated,
        keptSpecs: this.#specs.of(rootId),
      })
      if (typeof tree === 'string') return tree
      const { left, clock } = await this.#decideNow(tree)
      handOver(tree.slice)
      const aftermath = await closeTree(tree, this.#parts, left, clock)
      const { slice } = tree
      return { aftermath, evaluations: [...slice.evaluations.values()], more: left.size > 0, slice, left }
    })
    if (typeof seen === 'string') return seen
    this.#kept.keep(seen.slice)
    this.#specs.keep(seen.slice, seen.left)
    this.#announce(seen.aftermath)
    return seen
  }

  async #decideNow(tree: OpenTree) {
    const clock = await takeWord(tree, this.#parts.kinds)
    return { clock, left: await runToFixpoint(tree.client, tree.slice, this.#parts.kinds, BUDGET) }
  }

  async #retrying<T>(work: (isFirst: boolean) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await work(attempt === 1)
      } catch (error) {
        if (attempt >= RETRIES || !isTransient(error)) throw error
      }
    }
  }
}

type LookedOnce =
  | 'gone'
  | 'locked'
  | { readonly aftermath: Aftermath; readonly evaluations: readonly Evaluation[]; readonly more: boolean }
type Applied = { readonly value: unknown } | { readonly error: unknown }

function attempt(apply: () => unknown): Applied {
  try {
    return { value: apply() }
  } catch (error) {
    return { error }
  }
}

/** What was remembered must still do now that the lock is there and the time is known. */
function checkKnown(entries: readonly Entry[], kept: ReadonlyMap<string, LoadedNode>, now: Date): void {
  if (kept.size === 0) return
  for (const { task } of entries)
    for (const id of task.ids) {
      const work = kept.get(id)?.work
      if (work && !task.knows(work, now)) throw new RevisionConflict(kept.size, 0)
    }
}

/** What was remembered is proved right by being written; whatever was decided about the others has to be decided again. */
function checkWritten(slice: TreeSlice, kept: ReadonlyMap<string, LoadedNode>): void {
  let unproved = 0
  for (const [id, { row }] of kept) if (slice.nodes.get(id)?.row.revision === row.revision) unproved++
  if (unproved > 0) throw new RevisionConflict(kept.size, kept.size - unproved)
}

const touchedIds = (slice: TreeSlice): ReadonlySet<string> => new Set([...slice.touched].map(({ row }) => row.id))

/** Serialisation failure and deadlock; both are safe to repeat, since nothing was written. */
const TRANSIENT = new Set(['40001', '40P01'])
const isTransient = (error: unknown): boolean =>
  error instanceof RevisionConflict || (error instanceof Error && 'code' in error && TRANSIENT.has(String(error.code)))
