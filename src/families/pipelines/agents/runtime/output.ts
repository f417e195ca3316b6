import type { Mask } from '../../../../agents/mask.ts'
import { cutText, fitText } from '../../../../client/agent/fit-text.ts'
import { LineSplitter } from '../../../../client/gadget/line-splitter.ts'
import { LIMITS } from '../../../../core/limits.ts'
import type { OutputLimits, OutputStream } from './runtime.ts'

const OUTPUT_LIMITS: OutputLimits = { lines: 1_000, bytes: 1_000_000, totalBytes: 64_000_000 }
const BURST_SECONDS = 5
/** More than the longest line of output has: UTF-8 has at most three bytes for each unit of UTF-16. */
const LINE_BYTES = 3 * (LIMITS.logLine.max + 1)

export interface OutputOptions {
  readonly limits?: OutputLimits | undefined
  readonly mask: Mask
  onLine(stream: OutputStream, text: string): void
  /** Monotonic time in milliseconds. */
  readonly now?: () => number
}

/** Passes output on as lines, masked and within limits: excess lines are dropped, and one line reports their number. */
export class Output {
  readonly #limits: OutputLimits
  readonly #onLine: (stream: OutputStream, text: string) => void
  readonly #now: () => number
  readonly #splitters: Readonly<Record<'STDOUT' | 'STDERR', LineSplitter>>
  #lines: number
  #bytes: number
  #filledAt: number
  #remaining: number
  #dropped = 0
  #flooded = false
  #full = false

  constructor({ limits = OUTPUT_LIMITS, mask, onLine, now = () => performance.now() }: OutputOptions) {
    this.#limits = limits
    this.#onLine = onLine
    this.#now = now
    this.#lines = limits.lines * BURST_SECONDS
    this.#bytes = limits.bytes * BURST_SECONDS
    this.#filledAt = now()
    this.#remaining = limits.totalBytes
    const splitter = (stream: 'STDOUT' | 'STDERR') =>
      new LineSplitter(LINE_BYTES, (line, isCut) =>
        this.#take(stream, (isCut ? cutText : fitText)(mask.apply(line, isCut), LIMITS.logLine)),
      )
    this.#splitters = { STDOUT: splitter('STDOUT'), STDERR: splitter('STDERR') }
  }

  /** False: some lines were dropped. */
  write(stream: 'STDOUT' | 'STDERR', chunk: Buffer): boolean {
    const before = this.#dropped
    this.#refill()
    this.#splitters[stream].write(chunk)
    return this.#dropped <= before
  }

  /** Flushes last lines without a line end, and reports the lines dropped last. */
  end(): void {
    this.#splitters.STDOUT.end()
    this.#splitters.STDERR.end()
    this.#reportDropped()
  }

  #take(stream: 'STDOUT' | 'STDERR', line: string): void {
    const size = line.length + 1
    if (this.#lines < 1 || this.#bytes < size) this.#flooded = true
    if (this.#full || this.#flooded) {
      this.#dropped += 1
      return
    }
    this.#reportDropped()
    this.#lines -= 1
    this.#bytes -= size
    this.#remaining -= size
    this.#onLine(stream, line)
    if (this.#remaining > 0) return
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
    // Only with room for a second's lines: otherwise a report of dropped lines would follow every single line.
    if (this.#lines >= lines && this.#bytes >= bytes) this.#flooded = false
  }

  #reportDropped(): void {
    if (this.#dropped === 0) return
    const { lines, bytes } = this.#limits
    const why = this.#full ? 'the output is too large' : `more than ${lines} lines or ${bytes} bytes a second`
    this.#onLine('SYSTEM', `${this.#dropped} lines were dropped: ${why}.`)
    this.#dropped = 0
  }
}
