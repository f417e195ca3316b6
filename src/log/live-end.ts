import type { LogCursor, LogListener, ResolvedCursor } from '../core/ports/log.ts'
import type { PhaseChangeQuery, PhaseChangeRecord } from '../core/ports/phase-change.ts'
import { cursorAt } from './cursor.ts'
import { ListenerIndex } from './listener-index.ts'
import { LiveBuffer } from './live-buffer.ts'

/** The buffer is kept for so long after the last listener has left. */
const KEPT_MS = 30_000

/** The newest changes of the log and the listeners that get what follows them. Decides nothing and reads nothing. */
export class LiveEnd {
  readonly #listeners = new ListenerIndex<LogListener>()
  readonly #buffer: LiveBuffer
  #lineage = 1
  #known: number
  #leftAt = Number.NEGATIVE_INFINITY

  constructor(at: LogCursor) {
    this.#buffer = new LiveBuffer(at)
    this.#known = at.sequence
  }

  /** Its end is delivered: listeners were offered every matching change up to there. */
  get buffer(): Omit<LiveBuffer, 'append' | 'restart'> {
    return this.#buffer
  }
  /** Grows when the log turns out to be another one than before. */
  get lineage(): number {
    return this.#lineage
  }
  /** The last sequence that is known to be numbered. */
  get known(): number {
    return this.#known
  }
  get listeners(): number {
    return this.#listeners.size
  }
  get cursor(): ResolvedCursor {
    return { lineage: this.#lineage, ...this.#buffer.end }
  }
  /** A listener that was cut off returns soon and resumes from the buffer; later the buffer is a waste of memory. */
  get isIdle(): boolean {
    return this.#listeners.size === 0 && performance.now() - this.#leftAt > KEPT_MS
  }

  add(query: PhaseChangeQuery, listener: LogListener): void {
    this.#listeners.add(query, listener)
  }
  remove(listener: LogListener): void {
    this.#listeners.delete(listener)
    this.#leftAt = performance.now()
  }
  removeAll(): void {
    for (const listener of this.#listeners.listeners()) this.#listeners.delete(listener)
  }

  raiseKnown(sequence: number): void {
    this.#known = Math.max(this.#known, sequence)
  }

  /**
   * @param changes the next ones, without a gap
   * @returns how many listeners got some of them
   */
  deliver(changes: readonly PhaseChangeRecord[]): number {
    const after = this.cursor
    this.#buffer.append(changes)
    const through = this.cursor
    const routed = this.#listeners.route(changes)
    for (const [listener, own] of routed) listener.offer(own, after, through)
    return routed.size
  }

  tick(): void {
    const { cursor } = this
    for (const listener of this.#listeners.listeners()) listener.tick(cursor)
  }

  /** Without listeners: empties the buffer and restarts it at the last known sequence. */
  restartAtKnown(changes: readonly PhaseChangeRecord[] | null = null): void {
    const last = changes?.at(-1)
    this.#buffer.restart(last?.sequence === this.#known ? cursorAt(last) : { sequence: this.#known, mark: null })
  }

  restart(at: LogCursor): void {
    this.#buffer.restart(at)
    this.raiseKnown(at.sequence)
  }

  /** Moves to another position, of the same log or of another one. Each listener resolves its own cursor there. */
  skip({ sequence, mark }: LogCursor): void {
    const delivered = this.cursor
    this.#lineage += 1
    this.#known = sequence
    this.#buffer.restart({ sequence, mark })
    for (const listener of this.#listeners.listeners()) listener.lost(delivered)
  }
}
