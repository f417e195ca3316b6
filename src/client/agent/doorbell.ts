import { pause } from '../pause.ts'

/** One waiter, any number of ringers. A ring while nobody waits is remembered. */
export class Doorbell {
  #rung = false
  #wake = new AbortController()

  ring(): void {
    this.#rung = true
    this.#wake.abort()
  }

  /** Returns when it rings, after `ms`, or when the signal aborts. */
  async wait(ms: number, signal: AbortSignal): Promise<void> {
    if (!this.#rung) {
      this.#wake = new AbortController()
      await pause(ms, AbortSignal.any([signal, this.#wake.signal]))
    }
    this.#rung = false
  }
}
