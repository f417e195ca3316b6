const SIZE = 64 * 1024

export type Allocate = (bytes: number) => Buffer

/**
 * Memory for frames, reused as soon as the kernel has taken them, which is nearly always at once: frames for thousands of
 * subscribers stay in the processor's cache. Memory of frames that wait for their client is not reused.
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

  /** Releases the buffer that was taken last, when nothing reads it any more. */
  release(last: Buffer): void {
    if (last.buffer === this.#buffer.buffer) this.#used -= last.length
  }
}
