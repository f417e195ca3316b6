import type { PhaseChange } from 'phaseline/client'
import type { Waiting } from 'phaseline/client-model'
import { nodesOf, undoneFailures } from 'phaseline/client-model'
import { lastFailures, partitionFailures } from '../model/failures.ts'
import { classOf } from '../model/known.ts'
import type { Row } from '../model/object.ts'
import { FAILURES, TREES, UNFINISHED } from './documents.ts'
import { gql, type NodeOf, type ResultOf, type VariablesOf } from './gql.ts'
import { messageOf, readLive } from './live-read.ts'
import { Pace } from './pace.ts'
import { markFailuresSeen, seenFailures } from './seen-failures.ts'
import type { Session } from './session.ts'
import { Store } from './store.ts'

export type Unfinished = Row & Waiting
export type Running = NodeOf<NonNullable<ResultOf<typeof UNFINISHED>['running']>>
export type Failed = NodeOf<NonNullable<ResultOf<typeof FAILURES>['objects']>>
const HEALTH = gql(`query Health($project: String) {
  health(project: $project) {
    verdict causeCount causes { cause severity since project subject message action command page }
  }
}`)
export type Health = NonNullable<ResultOf<typeof HEALTH>['health']>
export type Tree = NodeOf<NonNullable<ResultOf<typeof TREES>['objects']>>

/** The most unfinished objects that are read; lists show the rest. */
const UNFINISHED_SHOWN = 200
/** The most unfinished roots that are read: the objects of their trees are counted. */
const RUNNING_SHOWN = 30
const TREES_SHOWN = 25
/** The most failures that are read. */
const FAILURES_SHOWN = 100
/** Undone failures are listed for a day. */
const UNDONE_MS = 86_400_000
/** Interval of queries: blockers can change without a phase change, as when an agent connects or a lock is released. */
const LOOK_AGAIN_MS = 5_000
const SETTLE_MS = 700
/** Least time between two judgements, which cost the server more than lists do. */
const JUDGE_MS = 15_000

/** Unfinished objects with their blockers, failures, and the trees that have changed last. */
export class OverviewStore extends Store {
  readonly #session: Session
  /** null: of all projects. */
  readonly #project: string | null
  readonly #signal: AbortSignal
  /** Everything was read once. */
  loaded = false
  error: string | null = null
  unfinished: readonly Unfinished[] = []
  unfinishedTotal = 0
  /** Objects that only a person can end, finished or not. */
  undecided: readonly Unfinished[] = []
  /** Unfinished roots, the last that has changed first. */
  running: readonly Running[] = []
  hasMoreRunning = false
  trees: readonly Tree[] = []
  treesTotal = 0
  projectsTotal = 0
  /** Objects that failed by themselves and are not undecided: those that a person has not seen, and those that one has. */
  newFailures: readonly Failed[] = []
  seenFailures: readonly Failed[] = []
  /** Objects that failed by themselves beyond those that were read: nobody knows which of them are new. */
  unreadFailures = 0
  /** Failures that have left nothing behind but the log, and that no person has seen. */
  undone: readonly PhaseChange[] = []
  /** Null: it is not read yet, or may not be read. */
  health: Health | null = null
  #judgedAt = Number.NEGATIVE_INFINITY
  #failedRead: readonly Failed[] = []
  #failedTotal = 0
  #undoneRead: readonly PhaseChange[] = []
  /** Counts the changes that concern trees and failures, and those that were known at the last read. */
  readonly #moved = { trees: 0, failures: 0 }
  readonly #known = { trees: 0, failures: 0 }
  readonly #pace = new Pace()
  #looking: ReturnType<typeof setTimeout> | undefined

  /** @param project empty: all projects */
  constructor(session: Session, project: string, signal: AbortSignal) {
    super()
    this.#session = session
    this.#project = project || null
    this.#signal = signal
    readLive(
      session.feed,
      {
        read: async (reading) => {
          await this.#pace.ask(() =>
            Promise.all([
              this.#readUnfinished(reading),
              this.#readTrees(reading),
              this.#readFailures(reading),
              this.#readHealth(reading),
            ]),
          )
          this.#isRead()
        },
        apply: (changes) => this.#apply(changes),
        failed: (error) => {
          this.error = messageOf(error)
          this.changed()
        },
      },
      signal,
    )
    const again = setInterval(() => this.#plan(0), LOOK_AGAIN_MS)
    signal.addEventListener('abort', () => {
      clearInterval(again)
      clearTimeout(this.#looking)
    })
  }

  get isEmpty(): boolean {
    return this.treesTotal === 0 && this.undone.length === 0
  }

  #apply(all: readonly PhaseChange[]): void {
    const changes = all.filter(({ projectName }) => this.#project === null || projectName === this.#project)
    if (changes.length === 0) return
    if (changes.some(({ objectId, rootId }) => objectId === rootId)) this.#moved.trees += 1
    if (changes.some(({ from, to }) => isFailed(to) || isFailed(from))) this.#moved.failures += 1
    this.#plan(SETTLE_MS)
  }

  /** Marks all failures that are known as seen. */
  readonly markSeen = (): void => {
    const times = [...this.newFailures.map(({ phaseSince }) => phaseSince), ...this.undone.map(({ at }) => at)]
    markFailuresSeen(this.#project, Math.max(...times.map((at) => Date.parse(at))))
    this.#showFailures()
  }

  #showFailures(): void {
    const seen = seenFailures(this.#project)
    const { fresh, known } = partitionFailures(this.#failedRead, this.undecided, seen)
    this.newFailures = fresh
    this.seenFailures = known
    this.unreadFailures = this.#failedTotal - this.#failedRead.length
    this.undone = lastFailures(this.#undoneRead, this.#session.machines, seen)
    this.changed()
  }

  #plan(afterMs: number): void {
    if (document.hidden || this.#looking !== undefined) return
    this.#looking = setTimeout(() => {
      void this.#pace
        .ask(() => this.#look(this.#signal))
        .catch(() => undefined)
        .finally(() => {
          this.#looking = undefined
        })
    }, this.#pace.delay(afterMs))
  }

  async #look(signal: AbortSignal): Promise<void> {
    await this.#readUnfinished(signal)
    await this.#readHealth(signal)
    // A first read that failed, as when a tree is deleted meanwhile, is made up for.
    if (!this.loaded || this.#known.trees !== this.#moved.trees) await this.#readTrees(signal)
    if (!this.loaded || this.#known.failures !== this.#moved.failures) await this.#readFailures(signal)
    if (!this.loaded || this.error !== null) this.#isRead()
  }

  #isRead(): void {
    this.loaded = true
    this.error = null
    this.changed()
  }

  async #readUnfinished(signal: AbortSignal): Promise<void> {
    const project = this.#project
    const filter = { finished: false, project }
    const read = await this.#session.client.query(
      UNFINISHED,
      {
        filter,
        undecided: { undecided: true, project },
        roots: { ...filter, rootsOnly: true },
        first: UNFINISHED_SHOWN,
        firstRoots: RUNNING_SHOWN,
      },
      { signal },
    )
    this.unfinished = nodesOf(read.objects)
    this.unfinishedTotal = read.objects?.totalCount ?? this.unfinished.length
    this.undecided = nodesOf(read.undecided)
    this.running = nodesOf(read.running)
    this.hasMoreRunning = read.running?.pageInfo.hasNextPage ?? false
    this.#showFailures()
  }

  /** Its causes that are objects are in the other lists, so little is missing without it. */
  async #readHealth(signal: AbortSignal): Promise<void> {
    if (performance.now() - this.#judgedAt < JUDGE_MS) return
    this.#judgedAt = performance.now()
    const project = this.#project
    const read = await this.#session.client.query(HEALTH, { project }, { signal }).catch(() => null)
    this.health = read?.health ?? null
    this.changed()
  }

  async #readTrees(signal: AbortSignal): Promise<void> {
    const { trees: moved } = this.#moved
    const filter = { rootsOnly: true, project: this.#project }
    const { objects, projects } = await this.#session.client.query(TREES, { filter, first: TREES_SHOWN }, { signal })
    this.#known.trees = moved
    this.trees = nodesOf(objects)
    this.projectsTotal = projects?.totalCount ?? 0
    this.treesTotal = objects?.totalCount ?? this.trees.length
    this.changed()
  }

  async #readFailures(signal: AbortSignal): Promise<void> {
    const { failures: moved } = this.#moved
    const { client, machines } = this.#session
    const undone = {
      ...undoneFailures(machines.all, null),
      since: new Date(Date.now() - UNDONE_MS).toISOString(),
      project: this.#project,
    }
    const failed = { failed: true, project: this.#project }
    const variables = { first: FAILURES_SHOWN, failed, undone } as VariablesOf<typeof FAILURES>
    const { objects, phaseChanges } = await client.query(FAILURES, variables, { signal })
    this.#known.failures = moved
    this.#failedRead = nodesOf(objects)
    this.#failedTotal = objects?.totalCount ?? this.#failedRead.length
    this.#undoneRead = nodesOf(phaseChanges)
    this.#showFailures()
  }
}

const isFailed = (phase: string | null): boolean => phase !== null && classOf(phase) === 'FAILED'
