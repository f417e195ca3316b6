import type { ServerResponse } from 'node:http'

/** Milliseconds by which a refusal is delayed, so that a caller that retries at once retries seldom. */
export const LATE_MS = 500
/** Refusals that wait at a time. */
const MAX_WAITING = 2_000

/** Answers refused requests late, so that refusals cost little, too. */
export class LateRefusals {
  #waiting = 0

  /** Resolves when the request is to be answered, or its client has gone. */
  async wait(response: ServerResponse): Promise<void> {
    await new Promise<void>((resolve) => {
      response.once('close', resolve)
      this.delay(response, resolve)
    })
  }

  /** Calls back when the request is to be answered, unless its client has gone by then. */
  delay(response: ServerResponse, answer: () => void): void {
    // Its close, which ends the wait, does not come again.
    if (response.destroyed) return answer()
    if (this.#waiting >= MAX_WAITING) {
      response.setHeader('connection', 'close')
      return answer()
    }
    this.#waiting += 1
    const timer = setTimeout(answer, LATE_MS)
    response.once('close', () => {
      this.#waiting -= 1
      clearTimeout(timer)
    })
  }
}
