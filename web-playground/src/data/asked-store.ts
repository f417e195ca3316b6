import type { PhaseChange } from 'phaseline/client'
import { messageOf, readLive } from './live-read.ts'
import type { Session } from './session.ts'
import { Store } from './store.ts'

export interface Question<T> {
  /** Asks for all of it. */
  ask(session: Session, signal: AbortSignal): Promise<T>
  /** Whether a change may have made the answer another one; every change by default. */
  concerns?(change: PhaseChange): boolean
}

/** Many changes come together: one question answers them all. */
const SETTLE_MS = 700
/** Not everything is in the log: agents come and go without a phase change. */
const LOOK_AGAIN_MS = 5_000

/** An answer that is asked for again when the log says that it may be another one, and now and then while it is looked at. */
export class AskedStore<T> extends Store {
  readonly #session: Session
  readonly #question: Question<T>
  readonly #signal: AbortSignal
  answer: T | null = null
  error: string | null = null
  #planned: ReturnType<typeof setTimeout> | undefined
  #running = false
  #again = false
  #asked = 0

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
    })
  }

  /** Something was just done: there is no need to wait. */
  readonly refresh = (): void => {
    clearTimeout(this.#planned)
    this.#planned = undefined
    this.#plan(0)
  }

  #plan(afterMs: number): void {
    // What is being answered may not know it: it is asked once more, and not beside it, or none might ever be the newest.
    if (this.#running) this.#again = true
    else this.#planned ??= setTimeout(() => void this.#run(), afterMs)
  }

  async #run(): Promise<void> {
    this.#planned = undefined
    this.#running = true
    this.#again = false
    await this.#ask(this.#signal).catch(this.#fail)
    this.#running = false
    if (this.#again && !this.#signal.aborted) this.#plan(SETTLE_MS)
  }

  async #ask(signal: AbortSignal): Promise<void> {
    this.#asked += 1
    const mine = this.#asked
    const answer = await this.#question.ask(this.#session, signal)
    // An answer that was overtaken is older than what is shown.
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
