import { setTimeout as delay } from 'node:timers/promises'
import { backoffMs } from '../core/backoff.ts'
import { Busy } from '../core/busy.ts'
import { captureTrace, type RequestTrace } from './transaction-trace.ts'

/** The result of one task of a batch. */
export type Outcome<R> = { readonly value: R } | { readonly error: unknown }
/** 'locked': another transaction has the lock, and nothing was written. */
export type Attempted<R> = Outcome<R> | 'locked'

export interface Queued<T, R> {
  readonly task: T
  /** Null: nothing is traced. */
  readonly asked: RequestTrace | null
  /** By the monotonic clock. */
  readonly queuedAt: number
  /** Resolves when the task is done, or when its caller is to lead the lane. */
  readonly turn: PromiseWithResolvers<void>
  leads: boolean
  outcome: Outcome<R> | null
}

/**
 * Maximum number of tasks waiting in one lane; each costs some kilobytes now and a transaction, or a part of one,
 * later.
 */
const MAX_WAITING = 1_000
/**
 * How long a task waits, in milliseconds. Postgres ends the transaction of a frozen or disconnected process after 10
 * seconds; a waiting task still gets the lock afterwards.
 */
const LANE_WAIT_MS = 15_000
/** Pauses between two attempts to lock what another transaction has locked. */
export const REST = { baseMs: 4, factor: 2, capMs: 250 }

/**
 * Runs tasks one batch after the other, like a group commit: the first caller leads and runs batches until its own task
 * is done, then the next in the queue leads. Tasks that arrive while a batch runs share the next one, and a task that
 * waits holds no connection.
 *
 * A task that finds its tree or project locked is put back, and the lane rests before it tries again. A task that waits
 * too long, or finds the queue full, is refused as `Busy`.
 */
export abstract class Lane<T, R> {
  readonly #onIdle: () => void
  readonly #waitMs: number
  readonly #queue: Queued<T, R>[] = []
  #isLed = false
  /** Consecutive attempts that found the lock taken. */
  #misses = 0
  /** Ends the waiting of the task whose time is over first. */
  #timer: NodeJS.Timeout | null = null

  constructor(onIdle: () => void, waitMs = LANE_WAIT_MS) {
    this.#onIdle = onIdle
    this.#waitMs = waitMs
  }

  /** The subject of the lane, e.g. "The tree 0190…". */
  protected abstract readonly subject: string
  /** Removes the tasks that run together from the queue and returns them; at least one. */
  protected abstract takeBatch(queue: Queued<T, R>[]): readonly Queued<T, R>[]
  /** Answers one outcome for each task, in order. `isAlone`: no other task waits in this lane. */
  protected abstract runBatch(
    tasks: readonly T[],
    isAlone: boolean,
    asked: readonly RequestTrace[],
  ): Promise<readonly Attempted<R>[]>
  /** The answer to a task that does not wait any longer for what is locked; null: it waits. */
  protected abstract whenLocked(task: T, waitedMs: number): Outcome<R> | null

  /** The lock was taken at the last attempt, so that the next one does not wait for it on its connection. */
  protected get isLocked(): boolean {
    return this.#misses > 0
  }

  async run(task: T): Promise<R> {
    const own: Queued<T, R> = {
      task,
      asked: captureTrace(),
      queuedAt: performance.now(),
      turn: Promise.withResolvers(),
      leads: false,
      outcome: null,
    }
    if (this.#queue.length >= MAX_WAITING) own.outcome = this.#tooLate(own, MAX_WAITING)
    else {
      this.#queue.push(own)
      if (this.#isLed) {
        this.#watch()
        await own.turn.promise
      } else {
        this.#isLed = true
        own.leads = true
        // Tasks of the same moment share the first batch.
        await Promise.resolve()
      }
    }
    if (own.leads) await this.#lead(own)
    if (!own.outcome) throw new Error('a task of a lane has no outcome')
    if ('error' in own.outcome) throw own.outcome.error
    return own.outcome.value
  }

  async #lead(own: Queued<T, R>): Promise<void> {
    while (!own.outcome) {
      const batch = this.takeBatch(this.#queue)
      const tasks = batch.map((queued) => queued.task)
      const asked = own.asked ? batch.flatMap((queued) => queued.asked ?? []) : NO_TRACES
      const running = this.runBatch(tasks, batch.length === 1 && this.#queue.length === 0, asked)
      const outcomes = await running.catch((error: unknown) => tasks.map((): Outcome<R> => ({ error })))
      const locked = settle(batch, outcomes)
      if (locked.length > 0) await this.#rest(locked)
      else this.#misses = 0
    }
    this.#passLead()
  }

  /** Puts the tasks back, and waits without a connection. */
  async #rest(locked: readonly Queued<T, R>[]): Promise<void> {
    this.#misses++
    this.#queue.unshift(...locked)
    this.#answer(({ task }, waitedMs) => this.whenLocked(task, waitedMs))
    if (this.#queue.length === 0) return
    this.#watch()
    await delay(backoffMs(this.#misses, Math.random(), REST))
  }

  #passLead(): void {
    const next = this.#queue[0]
    if (next) {
      next.leads = true
      return next.turn.resolve()
    }
    this.#isLed = false
    if (this.#timer) clearTimeout(this.#timer)
    this.#timer = null
    this.#onIdle()
  }

  /** While tasks wait, one timer ends the waiting of each in time. */
  #watch(): void {
    if (this.#timer || this.#queue.length === 0) return
    const first = Math.min(...this.#queue.map(({ queuedAt }) => queuedAt))
    const expire = () => {
      this.#timer = null
      const waiting = this.#queue.length
      this.#answer((queued, waitedMs) => (waitedMs >= this.#waitMs ? this.#tooLate(queued, waiting) : null))
      this.#watch()
    }
    this.#timer = setTimeout(expire, Math.max(1, first + this.#waitMs - performance.now()))
  }

  /** Takes each waiting task that has an answer from the queue. */
  #answer(outcomeOf: (queued: Queued<T, R>, waitedMs: number) => Outcome<R> | null): void {
    const now = performance.now()
    for (const queued of [...this.#queue]) {
      const outcome = outcomeOf(queued, now - queued.queuedAt)
      if (!outcome) continue
      this.#queue.splice(this.#queue.indexOf(queued), 1)
      queued.outcome = outcome
      queued.turn.resolve()
    }
  }

  #tooLate({ task, queuedAt }: Queued<T, R>, waiting: number): Outcome<R> {
    const error = new Busy(this.subject, { waiting, waitedMs: performance.now() - queuedAt })
    return this.whenLocked(task, Number.POSITIVE_INFINITY) ?? { error }
  }
}

const NO_TRACES: readonly RequestTrace[] = []

/** Returns the tasks without an outcome, since the lock was taken. */
function settle<T, R>(batch: readonly Queued<T, R>[], outcomes: readonly Attempted<R>[]): readonly Queued<T, R>[] {
  const locked: Queued<T, R>[] = []
  for (const [i, queued] of batch.entries()) {
    const outcome = outcomes[i] ?? { error: new Error('a task of a batch has no outcome') }
    if (outcome === 'locked') locked.push(queued)
    else {
      queued.outcome = outcome
      queued.turn.resolve()
    }
  }
  return locked
}
