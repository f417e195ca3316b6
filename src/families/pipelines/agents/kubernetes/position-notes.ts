import { LOG_START, type LogPosition, writePosition } from './log-lines.ts'
import { ANNOTATIONS } from './names.ts'

/** Interval of recording the read position: a killed runtime repeats no more than that. */
const NOTE_MS = 10_000

/** Notes on a pod how far its output was passed on, for the next process. */
export class PositionNotes {
  readonly #write: (metadata: Readonly<Record<string, unknown>>) => Promise<unknown>
  readonly #timer: NodeJS.Timeout
  #position: LogPosition = LOG_START
  #noted: LogPosition = LOG_START

  constructor(write: (metadata: Readonly<Record<string, unknown>>) => Promise<unknown>) {
    this.#write = write
    this.#timer = setInterval(() => void this.#note({}), NOTE_MS)
  }

  set(position: LogPosition): void {
    this.#position = position
  }

  /** @param last what else is to be written of the pod */
  async close(last: Readonly<Record<string, unknown>>): Promise<void> {
    clearInterval(this.#timer)
    await this.#note(last)
  }

  async #note(more: Readonly<Record<string, unknown>>): Promise<void> {
    const hasMoved = this.#noted !== this.#position
    if (!hasMoved && Object.keys(more).length === 0) return
    this.#noted = this.#position
    const annotations = hasMoved ? { [ANNOTATIONS.logged]: writePosition(this.#position) } : {}
    // Without it, lines may come twice.
    await this.#write({ annotations, ...more }).catch(() => {})
  }
}
