import { isDatabaseUnavailable } from '../core/database-unavailable.ts'
import { awaitAll } from '../store/await-all.ts'
import { isLockTimeout } from '../store/lock-timeout.ts'
import { isConstraintViolation, isScopeMismatch } from '../store/scope.ts'
import type { EngineContext } from './context.ts'
import { type Attempted, Lane, type Queued } from './lane.ts'
import { type LockedProject, lockProject } from './locked-project.ts'
import { type Transaction, transaction } from './transaction.ts'
import type { RequestTrace } from './transaction-trace.ts'
import { TreeLocked } from './tree-locked.ts'

/** Bounds the writes that share one transaction. */
const MAX_SHARED = 32
/** Objects of new trees that are decided with the project locked: by a call alone, and by calls that share a transaction. */
const ALONE = { ofTree: 250, all: 250 }
const SHARED = { ofTree: 32, all: 256 }
const NONE = { ofTree: 0, all: 0 }

/** A command's write under a project's lock. */
export interface ProjectWrite {
  run(project: LockedProject): Promise<unknown>
  /** The write may share its transaction with others, since the database refuses conflicting ones. */
  readonly canShare: boolean
}

/** Optimistic assumptions of a transaction. Each failure withdraws one. */
interface Attempt {
  readonly decidesInline: boolean
  readonly assumesNamesFree: boolean
}

/** Runs the writes of this process under one project's lock, one transaction at a time. */
export class ProjectLane extends Lane<ProjectWrite, unknown> {
  readonly #context: EngineContext
  readonly #name: string
  /** Ids from earlier transactions of all projects without an invariant, verified by the lock. */
  readonly #knownIds: Map<string, string>

  constructor(context: EngineContext, name: string, knownIds: Map<string, string>, onIdle: () => void) {
    super(onIdle, context.laneWaitMs)
    this.#context = context
    this.#name = name
    this.#knownIds = knownIds
  }

  protected override get subject(): string {
    return `The project ${this.#name}`
  }

  protected override whenLocked(): null {
    return null
  }

  /** The writes at the front of the queue that can share a transaction, or the first one. */
  protected override takeBatch(queue: Queued<ProjectWrite, unknown>[]): readonly Queued<ProjectWrite, unknown>[] {
    let count = 0
    while (count < MAX_SHARED && queue[count]?.task.canShare) count++
    return queue.splice(0, Math.max(1, count))
  }

  protected override async runBatch(
    writes: readonly ProjectWrite[],
    isAlone: boolean,
    asked: readonly RequestTrace[],
  ): Promise<readonly Attempted<unknown>[]> {
    // Writes that share a transaction query for taken names, since one violation would fail all of them.
    let attempt: Attempt = {
      decidesInline: true,
      assumesNamesFree: isAlone && writes.every(({ canShare }) => canShare),
    }
    for (;;) {
      let locked: LockedProject | null = null
      try {
        const write = async (tx: Transaction) => {
          const knownId = this.#knownIds.get(this.#name) ?? null
          const inline = attempt.decidesInline ? (isAlone ? ALONE : SHARED) : NONE
          const options = { knownId, assumesNamesFree: attempt.assumesNamesFree, inline, mayWait: !this.isLocked }
          const project = await lockProject(tx, this.#context, this.#name, options)
          if (project === 'locked') return project
          if (!project) return writes.map(() => null)
          locked = project
          if (!project.hasInvariants) this.#knownIds.set(this.#name, project.projectId)
          return await awaitAll(writes.map((each) => each.run(project)))
        }
        const values = await transaction(this.#context, write, asked)
        return values === 'locked' ? writes.map(() => values) : values.map((value) => ({ value }))
      } catch (error) {
        if (isLockTimeout(error)) return writes.map(() => 'locked')
        // Each attempt would only wait for the database again.
        if (isDatabaseUnavailable(error)) return writes.map(() => ({ error }))
        const next = error instanceof TreeLocked ? null : this.#weaker(attempt, locked, error)
        if (!next) return writes.length === 1 ? [{ error }] : await this.#runEach(writes, asked)
        attempt = next
      }
    }
  }

  /** Runs each write alone, so that a failure affects no other. */
  async #runEach(
    writes: readonly ProjectWrite[],
    asked: readonly RequestTrace[],
  ): Promise<readonly Attempted<unknown>[]> {
    const outcomes: Attempted<unknown>[] = []
    for (const write of writes) outcomes.push(...(await this.runBatch([write], false, asked)))
    return outcomes
  }

  /** The next, more cautious attempt; null: the error is final. */
  #weaker({ decidesInline, assumesNamesFree }: Attempt, locked: LockedProject | null, error: unknown): Attempt | null {
    if (
      (this.#knownIds.has(this.#name) && isScopeMismatch(error)) ||
      (assumesNamesFree && isConstraintViolation(error))
    ) {
      this.#knownIds.delete(this.#name)
      return { decidesInline, assumesNamesFree: false }
    }
    if (!decidesInline || !locked?.hasDecided) return null
    // A request must not be refused because its tree cannot be decided yet.
    const { logger } = this.#context
    logger.warn({ err: error }, 'a new tree could not be decided in its own transaction: the engine tries again')
    return { decidesInline: false, assumesNamesFree }
  }
}
