/** A connection whose client reads slower than it is answered. */
export interface SlowReader {
  /** Bytes that the kernel has not taken yet. */
  readonly waiting: number
  /** Ends the connection. */
  giveUp(): void
}

/** Room that is made when the limit is reached, so that not every write makes some. */
const KEPT = 0.9

/** Bounds the bytes that wait for all clients of a gateway together: those who have read slowly for longest have to go. */
export class UnreadBytes {
  readonly #limit: number
  /** Bytes of each reader at its last update, in the order in which they became slow. */
  readonly #readers = new Map<SlowReader, number>()
  #total = 0
  constructor(limit: number) {
    this.#limit = limit
  }

  get total(): number {
    return this.#total
  }

  /** Call it after each write that did not go out at once, and when everything has gone out. */
  update(reader: SlowReader): void {
    this.#set(reader, reader.waiting)
    if (this.#total > this.#limit) this.#makeRoom()
  }

  remove(reader: SlowReader): void {
    this.#set(reader, 0)
  }

  #set(reader: SlowReader, waiting: number): void {
    this.#total += waiting - (this.#readers.get(reader) ?? 0)
    if (waiting > 0) this.#readers.set(reader, waiting)
    else this.#readers.delete(reader)
  }

  #makeRoom(): void {
    // Some have read meanwhile.
    for (const reader of this.#readers.keys()) this.#set(reader, reader.waiting)
    for (const reader of this.#readers.keys()) {
      // One alone has no more than one answer.
      if (this.#total <= this.#limit * KEPT || this.#readers.size === 1) return
      this.remove(reader)
      reader.giveUp()
    }
  }
}
