import { LineSplitter } from '../../client/gadget/line-splitter.ts'
import type { OutputStream } from '../runtime/runtime.ts'
import type { Mask } from './mask.ts'

export interface OutputLimits {
  /** Lines a second that may last; five times as many at once. */
  readonly lines: number
  /** Bytes a second likewise. */
  readonly bytes: number
  /** Of one workload, as far as one process of the runtime has seen it. */
  readonly totalBytes: number
}

export const OUTPUT_LIMITS: OutputLimits = { lines: 1_000, bytes: 1_000_000, totalBytes: 64_000_000 }
const BURST_SECONDS = 5
/** Of a line so much is kept; the rest of it is dropped. */
const MAX_LINE = 8_192

export interface OutputOptions {
  readonly limits: OutputLimits
  readonly mask: Mask
  onLine(stream: OutputStream, text: string): void
  /** In milliseconds. */
  now(): number
}

/** Output as lines, masked and within limits: what is beyond is counted, dropped, and told of in one line. */
export class Output {
  readonly #limits: OutputLimits
  readonly #onLine: (stream: OutputStream, text: string) => void
  readonly #now: () => number
  readonly #splitters: Readonly<Record<'STDOUT' | 'STDERR', LineSplitter>>
  #lines: number
  #bytes: number
  #filledAt: number
  #left: number
  #dropped = 0
  #flooded = false
  #full = false

  constructor({ limits, mask, onLine, now }: OutputOptions) {
    this.#limits = limits
    this.#onLine = onLine
    this.#now = now
    this.#lines = limits.lines * BURST_SECONDS
    this.#bytes = limits.bytes * BURST_SECONDS
    this.#filledAt = now()
    this.#left = limits.totalBytes
    const splitter = (stream: 'STDOUT' | 'STDERR') =>
      new LineSplitter(MAX_LINE, (line, isCut) => this.#take(stream, mask.apply(line, isCut)))
    this.#splitters = { STDOUT: splitter('STDOUT'), STDERR: splitter('STDERR') }
  }

  /** False: some of it was dropped. */
  write(stream: 'STDOUT' | 'STDERR', chunk: Buffer): boolean {
    const before = this.#dropped
    this.#refill()
    this.#splitters[stream].write(chunk)
    return this.#dropped <= before
  }

  /** Hands on last lines that have no end, and tells what was dropped last. */
  end(): void {
    this.#splitters.STDOUT.end()
    this.#splitters.STDERR.end()
    this.#tellDropped()
  }

  #take(stream: 'STDOUT' | 'STDERR', line: string): void {
    const size = line.length + 1
    if (this.#lines < 1 || this.#bytes < size) this.#flooded = true
    if (this.#full || this.#flooded) {
      this.#dropped += 1
      return
    }
    this.#tellDropped()
    this.#lines -= 1
    this.#bytes -= size
    this.#left -= size
    this.#onLine(stream, line)
    if (this.#left > 0) return
    this.#full = true
    this.#onLine('SYSTEM', `Its output is larger than ${this.#limits.totalBytes} bytes: the rest is dropped.`)
  }

  #refill(): void {
    const now = this.#now()
    const seconds = (now - this.#filledAt) / 1_000
    const { lines, bytes } = this.#limits
    this.#lines = Math.min(lines * BURST_SECONDS, this.#lines + lines * seconds)
    this.#bytes = Math.min(bytes * BURST_SECONDS, this.#bytes + bytes * seconds)
    this.#filledAt = now
    // Not for each line that there is room for again: what is dropped is to be told of once a second, not between all lines.
    if (this.#lines >= lines && this.#bytes >= bytes) this.#flooded = false
  }

  #tellDropped(): void {
    if (this.#dropped === 0) return
    const { lines, bytes } = this.#limits
    const why = this.#full ? 'the output is too large' : `more than ${lines} lines or ${bytes} bytes a second`
    this.#onLine('SYSTEM', `${this.#dropped} lines were dropped: ${why}.`)
    this.#dropped = 0
  }
}
