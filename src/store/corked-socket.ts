import { Socket } from 'node:net'

/**
 * Sends all that is written within one turn of the event loop in one system call. The driver corks each statement on its
 * own; ten pipelined statements would be ten writes, and ten wake-ups of the server.
 */
export class CorkedSocket extends Socket {
  /** Called once, before what was written in this turn is sent: it may write more. */
  beforeSending: (() => void) | null = null
  #corked = false

  override cork(): void {
    if (this.#corked) return
    this.#corked = true
    super.cork()
    process.nextTick(() => {
      const { beforeSending } = this
      this.beforeSending = null
      beforeSending?.()
      this.#corked = false
      super.uncork()
    })
  }

  /** Ignored: the end of the turn uncorks. */
  override uncork(): void {}
}
