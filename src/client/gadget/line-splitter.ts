/** Splits a byte stream into lines of text, with a bound on the length of a line. */
export class LineSplitter {
  readonly #maxBytes: number
  readonly #onLine: (line: string, tooLong: boolean) => void
  #parts: Buffer[] = []
  #bytes = 0
  #tooLong = false

  /** A line that is too long is handed on cut off, once. */
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

  /** A last line need not have an end. */
  end(): void {
    if (this.#bytes > 0) this.#flush()
  }

  #add(part: Buffer): void {
    const room = this.#maxBytes - this.#bytes
    if (part.length > room) this.#tooLong = true
    const kept = part.subarray(0, Math.max(0, room))
    if (kept.length > 0) this.#parts.push(kept)
    this.#bytes += kept.length
  }

  #flush(): void {
    const line = Buffer.concat(this.#parts).toString('utf8')
    const tooLong = this.#tooLong
    this.#parts = []
    this.#bytes = 0
    this.#tooLong = false
    this.#onLine(line.endsWith('\r') ? line.slice(0, -1) : line, tooLong)
  }
}
