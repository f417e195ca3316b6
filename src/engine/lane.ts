/** What became of one task of a batch. */
export type Outcome<R> = { readonly value: R } | { readonly error: unknown }

export interface Queued<T, R> {
  readonly task: T
  /** Resolves when the task is done, or when its caller is to lead the lane. */
  readonly turn: PromiseWithResolvers<void>
  outcome: Outcome<R> | null
}

export interface LaneParts<T, R> {
  /** Removes the tasks that run together from the queue and returns them; at least one. */
  takeBatch(queue: Queued<T, R>[]): readonly Queued<T, R>[]
  /** Answers one outcome for each task, in order. `isAlone`: nobody else waits for this lane. */
  run(tasks: readonly T[], isAlone: boolean): Promise<readonly Outcome<R>[]>
}

/**
 * Runs tasks one batch after the other, like a group commit: the first caller leads and runs batches until its own task
 * is done, then the next in the queue leads. Tasks that arrive while a batch runs share the next one, and a task that
 * waits holds no connection.
 */
export class Lane<T, R> {
  readonly #parts: LaneParts<T, R>
  readonly #queue: Queued<T, R>[] = []
  #isLed = false

  constructor(parts: LaneParts<T, R>) {
    this.#parts = parts
  }

  get isIdle(): boolean {
    return !this.#isLed
  }

  async run(task: T): Promise<R> {
    const own: Queued<T, R> = { task, turn: Promise.withResolvers(), outcome: null }
    this.#queue.push(own)
    // Tasks of the same moment share the first batch.
    const turn = this.#isLed ? own.turn.promise : Promise.resolve()
    this.#isLed = true
    await turn
    if (!own.outcome) {
      while (!own.outcome) await this.#runBatch()
      this.#passLead()
    }
    if ('error' in own.outcome) throw own.outcome.error
    return own.outcome.value
  }

  async #runBatch(): Promise<void> {
    const batch = this.#parts.takeBatch(this.#queue)
    const tasks = batch.map(({ task }) => task)
    const outcomes = await this.#parts
      .run(tasks, tasks.length === 1 && this.#queue.length === 0)
      .catch((error: unknown) => tasks.map((): Outcome<R> => ({ error })))
    for (const [i, queued] of batch.entries()) {
      queued.outcome = outcomes[i] ?? { error: new Error('a task of a batch has no outcome') }
      queued.turn.resolve()
    }
  }

  #passLead(): void {
    const next = this.#queue[0]
    if (next) next.turn.resolve()
    else this.#isLed = false
  }
}
