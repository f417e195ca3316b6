const SIZE = 64 * 1024

export type Allocate = (bytes: number) => Buffer

/**
 * Memory for frames, used again as soon as the kernel has them, which is nearly always at once: what goes out to thousands of
 * subscribers stays in the processor's cache. What is still waiting for its client is left where it is.
 */
export class BufferPool {
  #buffer = Buffer.allocUnsafeSlow(SIZE)
  #used = 0

  readonly take: Allocate = (bytes) => {
    if (bytes > SIZE) return Buffer.allocUnsafeSlow(bytes)
    if (this.#used + bytes > SIZE) {
      this.#buffer = Buffer.allocUnsafeSlow(SIZE)
      this.#used = 0
    }
    this.#used += bytes
    return this.#buffer.subarray(this.#used - bytes, this.#used)
  }

  /** What was taken last is not read by anybody any more. */
  giveBack(last: Buffer): void {
    if (last.buffer === this.#buffer.buffer) this.#used -= last.length
  }
}
