import { withoutHalfCharacter } from '../../core/portable.ts'

/** Splits a byte stream into lines of text, with a bound on the length of a line. */
export class LineSplitter {
  readonly #maxBytes: number
  readonly #onLine: (line: string, tooLong: boolean) => void
  #parts: Buffer[] = []
  #bytes = 0
  #tooLong = false

  /** A line that is too long is passed on truncated, once, and not within a character. */
  constructor(maxBytes: number, onLine: (line: string, tooLong: boolean) => void) {
    this.#maxBytes = maxBytes
    this.#onLine = onLine
  }

  write(chunk: Buffer): void {
    let start = 0
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
      this.#add(chunk.subarray(start, end))
      this.#flush()
      start = end + 1
    }
    if (start < chunk.length) this.#add(chunk.subarray(start))
  }

  /** The last line may lack a line end. */
  end(): void {
    if (this.#bytes > 0) this.#flush()
  }

  #add(part: Buffer): void {
    const room = this.#maxBytes - this.#bytes
    if (part.length > room) this.#tooLong = true
    const fitting = part.subarray(0, Math.max(0, room))
    if (fitting.length > 0) this.#parts.push(fitting)
    this.#bytes += fitting.length
  }

  #flush(): void {
    const tooLong = this.#tooLong
    const whole = Buffer.concat(this.#parts)
    const line = whole.toString('utf8', 0, tooLong ? withoutHalfCharacter(whole).length : whole.length)
    this.#parts = []
    this.#bytes = 0
    this.#tooLong = false
    this.#onLine(line.endsWith('\r') ? line.slice(0, -1) : line, tooLong)
  }
}
