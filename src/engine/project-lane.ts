import { awaitAll } from '../store/await-all.ts'
import { isReplaced, isTakenBack } from '../store/scope.ts'
import type { EngineContext } from './context.ts'
import { Lane, type Outcome, type Queued } from './lane.ts'
import { type LockedProject, lockProject } from './locked-project.ts'
import { transaction } from './transaction.ts'

/** Writes that share one transaction, at most. */
const MAX_JOINED = 32
/** Phase writes of a new tree while its project is locked. The engine does the rest. */
const BUDGET = 500

/** A command's write under a project's lock. */
export interface ProjectWrite<T> {
  run(project: LockedProject): Promise<T>
  /** It may share its transaction with others like it: the database refuses what two of them may not do both. */
  readonly canShare: boolean
}

/** How much a transaction dares: each refusal takes one of these back. */
interface Attempt {
  readonly decides: boolean
  readonly trusts: boolean
}

/** The writes of this process under one project's lock, one transaction after the other. */
export class ProjectLane {
  readonly #context: EngineContext
  readonly #name: string
  readonly #lane: Lane<ProjectWrite<unknown>, unknown>
  /** As the last transactions knew them; the lock checks them. */
  readonly #knownIds: Map<string, string>
  #locked: LockedProject | null = null

  constructor(context: EngineContext, name: string, knownIds: Map<string, string>) {
    this.#context = context
    this.#name = name
    this.#knownIds = knownIds
    this.#lane = new Lane({ takeBatch, run: (writes, isAlone) => this.#write(writes, isAlone) })
  }

  get isIdle(): boolean {
    return this.#lane.isIdle
  }
  /** Null: there is no such project. */
  run<T>(write: ProjectWrite<T>): Promise<T | null> {
    return this.#lane.run(write) as Promise<T | null>
  }

  async #write(writes: readonly ProjectWrite<unknown>[], isAlone: boolean): Promise<readonly Outcome<unknown>[]> {
    // Several that share a transaction do not trust: one that is refused would take the others with it.
    let attempt: Attempt | null = { decides: isAlone, trusts: isAlone && writes.every(({ canShare }) => canShare) }
    for (;;) {
      try {
        const values = await this.#transact(writes, attempt)
        return values.map((value) => ({ value }))
      } catch (error) {
        attempt = this.#weaker(attempt, error)
        if (attempt) continue
        if (writes.length === 1) return [{ error }]
        // One that fails does not take the others with it.
        return await this.#writeEach(writes)
      }
    }
  }

  async #writeEach(writes: readonly ProjectWrite<unknown>[]): Promise<readonly Outcome<unknown>[]> {
    const outcomes: Outcome<unknown>[] = []
    for (const write of writes) outcomes.push(...(await this.#write([write], false)))
    return outcomes
  }

  #transact(writes: readonly ProjectWrite<unknown>[], { decides, trusts }: Attempt): Promise<readonly unknown[]> {
    return transaction(this.#context, async (tx) => {
      const knownId = this.#knownIds.get(this.#name) ?? null
      const project = await lockProject(tx, this.#context, this.#name, {
        knownId,
        trusts,
        budget: decides ? BUDGET : 0,
      })
      this.#locked = project
      if (!project) return writes.map(() => null)
      this.#knownIds.set(this.#name, project.projectId)
      return await awaitAll(writes.map((write) => write.run(project)))
    })
  }

  /** What to try next; null: the error is the answer. */
  #weaker({ decides, trusts }: Attempt, error: unknown): Attempt | null {
    const isKnown = this.#knownIds.has(this.#name)
    if ((isKnown && isReplaced(error)) || (trusts && isTakenBack(error))) {
      this.#knownIds.delete(this.#name)
      return { decides, trusts: false }
    }
    if (!decides || !this.#locked?.hasDecided) return null
    // A request must not be refused because its tree cannot be decided yet.
    const { logger } = this.#context
    logger.warn({ err: error }, 'a new tree could not be decided in its own transaction: the engine tries again')
    return { decides: false, trusts }
  }
}

/** The writes at the front of the queue that can share a transaction, or the first one. */
function takeBatch(queue: Queued<ProjectWrite<unknown>, unknown>[]): readonly Queued<ProjectWrite<unknown>, unknown>[] {
  let count = 0
  while (count < MAX_JOINED && queue[count]?.task.canShare) count++
  return queue.splice(0, Math.max(1, count))
}
