import type { PhaseChange } from 'phaseline/client'
import { nodesOf, undoneFailures } from 'phaseline/client-model'
import { type Counts, moveCounts } from '../model/counts.ts'
import { lastFailures } from '../model/failures.ts'
import { classOf } from '../model/known.ts'
import type { Row } from '../model/object.ts'
import type { Waiting } from '../model/stuck.ts'
import { FAILURES, UNFINISHED } from './documents.ts'
import type { NodeOf, ResultOf, VariablesOf } from './gql.ts'
import { messageOf, readLive } from './live-read.ts'
import { countsQuery } from './made-documents.ts'
import { markFailuresSeen, seenFailures } from './seen-failures.ts'
import type { Session } from './session.ts'
import { Store } from './store.ts'

export type Unfinished = Row & Waiting
export type Failed = NodeOf<NonNullable<ResultOf<typeof FAILURES>['objects']>>

/** The most unfinished objects that are read; lists show the rest. */
const UNFINISHED_SHOWN = 200
/** The most failures that are read. */
const FAILURES_SHOWN = 100
/** Undone failures are listed for a day. */
const UNDONE_MS = 86_400_000
/** Interval of queries: blockers can change without a phase change, as when an agent connects or a lock is released. */
const LOOK_AGAIN_MS = 5_000
const SETTLE_MS = 700
/** Counts that were read during changes are read again after so long without one. */
const QUIET_MS = 1_500

/** Counts of objects, and unfinished objects with their blockers. */
export class OverviewStore extends Store {
  readonly #session: Session
  /** null: of all projects. */
  readonly #project: string | null
  readonly #signal: AbortSignal
  counts: Counts | null = null
  unfinished: readonly Unfinished[] | null = null
  unfinishedTotal = 0
  /** Objects that only a person can end, finished or not. */
  undecided: readonly Unfinished[] = []
  /** Objects that failed by themselves; null: not read yet. */
  failed: readonly Failed[] | null = null
  failedTotal = 0
  /** Failures that have left nothing behind but the log. */
  undone: readonly PhaseChange[] = []
  error: string | null = null
  #undoneRead: readonly PhaseChange[] = []
  #failuresMoved = false
  #moved = 0
  #doubtful = false
  #quiet: ReturnType<typeof setTimeout> | undefined
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
          await Promise.all([this.#readCounts(reading), this.#look(reading), this.#readFailures(reading)])
          this.error = null
          this.changed()
        },
        apply: (changes) => this.#apply(changes),
        failed: (error) => {
          this.error = messageOf(error)
          this.changed()
        },
      },
      signal,
    )
    // Counts that were read during changes include some of them, and it is unknown which.
    const stop = session.feed.listen({
      changes: ({ length }) => {
        this.#moved += length
      },
      reset: () => undefined,
    })
    const again = setInterval(() => this.#plan(0), LOOK_AGAIN_MS)
    signal.addEventListener('abort', () => {
      stop()
      clearInterval(again)
      clearTimeout(this.#quiet)
      clearTimeout(this.#looking)
    })
  }

  #apply(all: readonly PhaseChange[]): void {
    const changes = all.filter(({ projectName }) => this.#project === null || projectName === this.#project)
    if (changes.length === 0) return
    if (this.counts) this.counts = moveCounts(this.counts, changes, this.#session.machines)
    if (this.#doubtful) {
      clearTimeout(this.#quiet)
      this.#quiet = setTimeout(() => void this.#readCounts(this.#signal).catch(() => undefined), QUIET_MS)
    }
    if (changes.some(({ from, to }) => isFailed(to) || isFailed(from))) this.#failuresMoved = true
    this.#plan(SETTLE_MS)
    this.changed()
  }

  /** Marks the undone failures as seen. */
  readonly markSeen = (): void => {
    markFailuresSeen(this.undone[0]?.sequence ?? 0)
    this.#showUndone()
  }

  #showUndone(): void {
    this.undone = lastFailures(this.#undoneRead, this.#session.machines, seenFailures())
    this.changed()
  }

  async #readFailures(signal: AbortSignal): Promise<void> {
    this.#failuresMoved = false
    const { client, machines } = this.#session
    const undone = {
      ...undoneFailures(machines.all, null),
      since: new Date(Date.now() - UNDONE_MS).toISOString(),
      project: this.#project,
    }
    const failed = { failed: true, project: this.#project }
    const variables = { first: FAILURES_SHOWN, failed, undone } as VariablesOf<typeof FAILURES>
    const { objects, phaseChanges } = await client.query(FAILURES, variables, { signal })
    this.failed = nodesOf(objects)
    this.failedTotal = objects?.totalCount ?? this.failed.length
    this.#undoneRead = nodesOf(phaseChanges)
    this.#showUndone()
  }

  async #readCounts(signal: AbortSignal): Promise<void> {
    const { client, machines } = this.#session
    const pairs = machines.kinds.flatMap((kind) =>
      (machines.of(kind)?.phases ?? []).map((phase) => [kind, phase] as const),
    )
    const before = this.#moved
    const read = await client.query(countsQuery(pairs), { project: this.#project }, { signal })
    this.#doubtful = this.#moved !== before
    const counts = new Map<string, Map<string, number>>()
    for (const [i, [kind, phase]] of pairs.entries()) {
      const phases = counts.get(kind) ?? new Map<string, number>()
      counts.set(kind, phases.set(phase, read[`c${i}`]?.totalCount ?? 0))
    }
    this.counts = counts
    if (this.#doubtful)
      this.#quiet = setTimeout(() => void this.#readCounts(this.#signal).catch(() => undefined), QUIET_MS)
    this.changed()
  }

  #plan(afterMs: number): void {
    if (document.hidden || this.#looking !== undefined) return
    this.#looking = setTimeout(() => {
      void this.#look(this.#signal)
        .catch(() => undefined)
        .finally(() => {
          this.#looking = undefined
        })
    }, afterMs)
  }

  async #look(signal: AbortSignal): Promise<void> {
    const project = this.#project
    const filter = { finished: false, project }
    const variables = { filter, undecided: { undecided: true, project }, first: UNFINISHED_SHOWN }
    const { objects, undecided } = await this.#session.client.query(UNFINISHED, variables, { signal })
    this.unfinished = nodesOf(objects)
    this.undecided = nodesOf(undecided)
    this.unfinishedTotal = objects?.totalCount ?? this.unfinished.length
    this.changed()
    if (this.#failuresMoved) await this.#readFailures(signal)
  }
}

const isFailed = (phase: string | null): boolean => phase !== null && classOf(phase) === 'FAILED'
