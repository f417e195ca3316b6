import { Socket } from 'node:net'

/**
 * Writes what is corked within one turn of the event loop in one piece. The driver corks each statement by itself; of
 * ten statements that travel together each would be a write of its own, and a wake-up of the server.
 */
export class CorkedSocket extends Socket {
  #held = false

  override cork(): void {
    if (this.#held) return
    this.#held = true
    super.cork()
    process.nextTick(() => {
      this.#held = false
      super.uncork()
    })
  }

  /** At the end of the turn. */
  override uncork(): void {}
}
