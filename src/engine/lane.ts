import { type Asked, askedNow } from './transaction-trace.ts'

/** The result of one task of a batch. */
export type Outcome<R> = { readonly value: R } | { readonly error: unknown }

export interface Queued<T, R> {
  readonly task: T
  /** Null: nothing is traced. */
  readonly asked: Asked | null
  /** Resolves when the task is done, or when its caller is to lead the lane. */
  readonly turn: PromiseWithResolvers<void>
  outcome: Outcome<R> | null
}

/**
 * Runs tasks one batch after the other, like a group commit: the first caller leads and runs batches until its own task
 * is done, then the next in the queue leads. Tasks that arrive while a batch runs share the next one, and a task that
 * waits holds no connection.
 */
export abstract class Lane<T, R> {
  readonly #onIdle: () => void
  readonly #queue: Queued<T, R>[] = []
  #isLed = false

  constructor(onIdle: () => void) {
    this.#onIdle = onIdle
  }

  /** Removes the tasks that run together from the queue and returns them; at least one. */
  protected abstract takeBatch(queue: Queued<T, R>[]): readonly Queued<T, R>[]
  /** Answers one outcome for each task, in order. `isAlone`: no other task waits in this lane. */
  protected abstract runBatch(
    tasks: readonly T[],
    isAlone: boolean,
    asked: readonly Asked[],
  ): Promise<readonly Outcome<R>[]>

  async run(task: T): Promise<R> {
    const own: Queued<T, R> = { task, asked: askedNow(), turn: Promise.withResolvers(), outcome: null }
    this.#queue.push(own)
    // Tasks of the same moment share the first batch.
    const turn = this.#isLed ? own.turn.promise : Promise.resolve()
    this.#isLed = true
    await turn
    if (!own.outcome) {
      while (!own.outcome) {
        const batch = this.takeBatch(this.#queue)
        const tasks = batch.map((queued) => queued.task)
        const asked = own.asked ? batch.flatMap((queued) => queued.asked ?? []) : NOBODY
        const running = this.runBatch(tasks, batch.length === 1 && this.#queue.length === 0, asked)
        settle(batch, await running.catch((error: unknown) => tasks.map((): Outcome<R> => ({ error }))))
      }
      this.#passLead()
    }
    if ('error' in own.outcome) throw own.outcome.error
    return own.outcome.value
  }

  #passLead(): void {
    const next = this.#queue[0]
    if (next) return next.turn.resolve()
    this.#isLed = false
    this.#onIdle()
  }
}

const NOBODY: readonly Asked[] = []

function settle<T, R>(batch: readonly Queued<T, R>[], outcomes: readonly Outcome<R>[]): void {
  for (const [i, queued] of batch.entries()) {
    queued.outcome = outcomes[i] ?? { error: new Error('a task of a batch has no outcome') }
    queued.turn.resolve()
  }
}
