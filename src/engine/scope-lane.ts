import { awaitAll } from '../store/await-all.ts'

/** Creations that share one transaction, at most. */
const MAX_JOINED = 32

/** Something to be done under a project's scope lock. */
export interface ScopeTask<C> {
  /** Whether it may share a transaction with others like it, all of them at the same time. */
  readonly joins: boolean
  /** Resolves or rejects for whoever asked, once it is committed or cannot be. */
  readonly run: (context: C) => Promise<void>
  readonly committed: () => void
  readonly failed: (error: unknown) => void
}

export interface ScopeMode {
  /** It holds up nobody else who is known to want the lock. */
  readonly isAlone: boolean
  /** It could be joined by others: the database itself refuses what may not be. */
  readonly joins: boolean
}
export type ScopeTransaction<C> = (work: (context: C) => Promise<void>, mode: ScopeMode) => Promise<void>

/**
 * What a process does under one project's scope lock, one transaction after the other: whoever waits for the lock holds
 * no connection. What can be joined to the next transaction is.
 */
export class ScopeLane<C> {
  readonly #transaction: ScopeTransaction<C>
  readonly #queue: ScopeTask<C>[] = []
  #running: Promise<void> | null = null

  constructor(transaction: ScopeTransaction<C>) {
    this.#transaction = transaction
  }

  add(task: ScopeTask<C>): void {
    this.#queue.push(task)
    this.#running ??= Promise.resolve().then(() => this.#drain())
  }
  get isIdle(): boolean {
    return this.#running === null
  }

  async #drain(): Promise<void> {
    for (let tasks = this.#next(); tasks.length > 0; tasks = this.#next()) await this.#runTogether(tasks)
    this.#running = null
  }

  #next(): readonly ScopeTask<C>[] {
    let count = 0
    while (count < MAX_JOINED && this.#queue[count]?.joins) count++
    return this.#queue.splice(0, Math.max(1, count))
  }

  async #runTogether(tasks: readonly ScopeTask<C>[]): Promise<void> {
    try {
      await this.#transaction(
        async (context) => {
          await awaitAll(tasks.map((task) => task.run(context)))
        },
        { isAlone: tasks.length === 1 && this.#queue.length === 0, joins: tasks.every(({ joins }) => joins) },
      )
    } catch (error) {
      // One that fails must not take the others with it.
      if (tasks.length > 1) for (const task of tasks) await this.#runTogether([task])
      else for (const task of tasks) task.failed(error)
      return
    }
    for (const task of tasks) task.committed()
  }
}
