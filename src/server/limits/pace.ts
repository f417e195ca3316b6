import { RoundRobin } from '../../core/round-robin.ts'

/** Milliseconds between two pieces of 64 KB: some 30 MB a second, which take about a hundredth of a processor. */
const PIECE_MS = 2

/**
 * The slow pace of bytes that are not counted as requests: of pages, of bodies that are thrown away, or of artifacts. All of a gateway
 * share it, address by address or principal by principal, so that it costs others the same however many there are.
 */
export class Pace {
  readonly #waiting = new RoundRobin<string>()
  #timer: NodeJS.Timeout | null = null

  /** Pieces for which the address waits. */
  waitingOf(address: string): number {
    return this.#waiting.waitingOf(address)
  }

  /** Resolves when the address may have its next piece. */
  next(address: string): Promise<void> {
    this.#timer ??= setInterval(() => this.#tick(), PIECE_MS).unref()
    return this.#waiting.wait(address)
  }

  #tick(): void {
    this.#waiting.next()
    if (!this.#waiting.isEmpty || this.#timer === null) return
    clearInterval(this.#timer)
    this.#timer = null
  }
}
