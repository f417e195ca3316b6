import { closeSync, openSync, readSync, statSync } from 'node:fs'

/** Lines of files that anybody may have written: what has no end takes no memory. */

/** The files of an export, as one text. */
export interface LogFiles {
  readonly files: readonly { readonly path: string; readonly size: number }[]
}
const CHUNK = 1024 * 1024
const LINE_BREAK = 10
/** In bytes: more than a change can have, and several times as much as a seal. */
const MAX_LINE = 1024 * 1024

export class LineTooLong extends Error {
  constructor() {
    super(`a line is longer than ${MAX_LINE} bytes`)
  }
}

/** Reads lines of the source from a position on. */
export class LineReader implements Disposable {
  readonly #source: LogFiles
  /** The bytes from `#position` on that are read. */
  #chunk = Buffer.alloc(0)
  #position: number
  #opened: { readonly path: string; readonly fd: number } | null = null
  from = 0
  to = -1

  constructor(source: LogFiles, position: number) {
    this.#source = source
    this.#position = position
  }
  get chunk(): Buffer {
    return this.#chunk
  }
  /** The place in the source at which the line begins. */
  get start(): number {
    return this.#position + this.from
  }
  text(): string {
    return this.#chunk.toString('utf8', this.from, this.to)
  }

  /**
   * Moves to the next line; false: there is none.
   * @param leave is called before the bytes of the lines so far are left
   * @throws LineTooLong
   */
  next(leave = () => {}): boolean {
    this.from = this.to + 1
    this.to = this.#chunk.indexOf(LINE_BREAK, this.from)
    while (this.to < 0) {
      leave()
      const rest = this.#chunk.subarray(this.from)
      if (rest.length > MAX_LINE) throw new LineTooLong()
      this.#position += this.from
      const read = this.#read(this.#position + rest.length)
      this.#chunk = Buffer.concat([rest, read])
      this.from = 0
      this.to = read.length === 0 ? this.#chunk.length : this.#chunk.indexOf(LINE_BREAK)
      if (read.length === 0) return this.#chunk.length > 0
    }
    return true
  }

  [Symbol.dispose](): void {
    if (this.#opened) closeSync(this.#opened.fd)
  }

  #read(position: number): Buffer {
    let begin = 0
    for (const { path, size } of this.#source.files) {
      if (position < begin + size) {
        const buffer = Buffer.allocUnsafe(Math.min(CHUNK, begin + size - position))
        return buffer.subarray(0, readSync(this.#open(path), buffer, 0, buffer.length, position - begin))
      }
      begin += size
    }
    return Buffer.alloc(0)
  }
  #open(path: string): number {
    if (this.#opened?.path !== path) {
      this[Symbol.dispose]()
      this.#opened = { path, fd: openSync(path, 'r') }
    }
    return this.#opened.fd
  }
}

/** @throws LineTooLong */
export function* linesOf(path: string): Generator<string> {
  using lines = new LineReader({ files: [{ path, size: statSync(path).size }] }, 0)
  while (lines.next()) yield lines.text()
}
