/** Smaller ones may share their memory, and are not worth the while. */
const LARGE = 16 * 1_024

/**
 * Frees the memory of large bytes that nobody reads any more. Otherwise memory outside of the heap grows until the
 * garbage collector stops the process, several times a second when bodies are large.
 */
export function release({ buffer, byteLength }: Buffer): void {
  if (byteLength < LARGE || buffer.byteLength !== byteLength || !(buffer instanceof ArrayBuffer)) return
  buffer.transfer(0)
}
