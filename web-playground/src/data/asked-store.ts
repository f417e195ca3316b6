import type { PhaseChange } from 'phaseline/client'
import { messageOf, readLive } from './live-read.ts'
import { Pace } from './pace.ts'
import type { Session } from './session.ts'
import { Store } from './store.ts'

export interface Question<T> {
  /** Queries the whole answer. */
  ask(session: Session, signal: AbortSignal): Promise<T>
  /** True if the change may have changed the answer; by default always. */
  concerns?(change: PhaseChange): boolean
}

/** Changes come in bursts: one query answers all of them. */
const SETTLE_MS = 700
/** The log does not have everything: agents connect and disconnect without a phase change. */
const LOOK_AGAIN_MS = 5_000

/**
 * An answer that is queried again after changes in the log that may affect it, and at intervals while a page shows it.
 */
export class AskedStore<T> extends Store {
  readonly #session: Session
  readonly #question: Question<T>
  readonly #signal: AbortSignal
  answer: T | null = null
  error: string | null = null
  readonly #pace = new Pace()
  #planned: ReturnType<typeof setTimeout> | undefined
  #running = false
  #again = false
  /** Somebody waits for an answer that is newer than the one on its way. */
  #isHurried = false
  #asked = 0
  #awaiting: (() => void)[] = []

  constructor(session: Session, question: Question<T>, signal: AbortSignal) {
    super()
    this.#session = session
    this.#question = question
    this.#signal = signal
    readLive(
      session.feed,
      {
        read: (reading) => this.#ask(reading),
        apply: (changes) => {
          if (!question.concerns || changes.some(question.concerns)) this.#plan(SETTLE_MS)
        },
        failed: this.#fail,
      },
      signal,
    )
    const again = setInterval(() => document.hidden || this.#plan(0), LOOK_AGAIN_MS)
    signal.addEventListener('abort', () => {
      clearInterval(again)
      clearTimeout(this.#planned)
      this.#release(this.#awaiting)
    })
  }

  /**
   * Queries at once, after an action of the user. Resolves once an answer from after now is shown, or could not be had, or the page is
   * left.
   */
  readonly refresh = (): Promise<void> => {
    if (this.#signal.aborted) return Promise.resolve()
    clearTimeout(this.#planned)
    this.#planned = undefined
    this.#isHurried = true
    this.#pace.hurry()
    this.#plan(0)
    return new Promise((resolve) => this.#awaiting.push(resolve))
  }

  #plan(afterMs: number): void {
    // The answer on its way may be older than the change, so another query follows it. The two do not run at the same
    // time, since then no answer might ever be the newest.
    if (this.#running) this.#again = true
    else this.#planned ??= setTimeout(() => void this.#run(), this.#pace.delay(afterMs))
  }

  async #run(): Promise<void> {
    this.#planned = undefined
    this.#running = true
    this.#again = false
    this.#isHurried = false
    // A refresh from now on awaits the next answer.
    const awaiting = this.#awaiting
    this.#awaiting = []
    await this.#ask(this.#signal).catch(this.#fail)
    this.#release(awaiting)
    this.#running = false
    if (this.#isHurried) this.#pace.hurry()
    if (this.#again && !this.#signal.aborted) this.#plan(this.#isHurried ? 0 : SETTLE_MS)
  }

  #release(awaiting: readonly (() => void)[]): void {
    for (const resolve of awaiting) resolve()
  }

  async #ask(signal: AbortSignal): Promise<void> {
    this.#asked += 1
    const mine = this.#asked
    const answer = await this.#pace.ask(() => this.#question.ask(this.#session, signal))
    // An overtaken answer is older than the shown one.
    if (mine !== this.#asked) return
    this.answer = answer
    this.error = null
    this.changed()
  }

  readonly #fail = (error: unknown): void => {
    if (this.#signal.aborted) return
    this.error = messageOf(error)
    this.changed()
  }
}
