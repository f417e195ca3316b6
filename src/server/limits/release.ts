/** Smaller ones may share their memory, and are not worth the while. */
const LARGE = 16 * 1_024

/**
 * Gives the memory of large bytes back at once, of which nothing is read any more. Memory outside of the heap adds up otherwise
 * until the garbage collector stops everything to look for it, which bodies would make it do several times a second.
 */
export function release({ buffer, byteLength }: Buffer): void {
  if (byteLength < LARGE || buffer.byteLength !== byteLength || !(buffer instanceof ArrayBuffer)) return
  buffer.transfer(0)
}
