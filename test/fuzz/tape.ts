/**
 * The choices that make a case, as bytes: the same bytes are the same case, and fewer or smaller ones a simpler case, so that
 * fast-check shrinks any of them. A tape that is read to its end says 0, which stands for the simplest choice.
 */
export class Tape {
  readonly #bytes: Uint8Array
  #at = 0
  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  get isOver(): boolean {
    return this.#at >= this.#bytes.length
  }

  /** A number from 0 to below `count`. */
  int(count: number): number {
    const high = count > 256 ? this.#next() * 256 : 0
    return (high + this.#next()) % count
  }

  pick<T>(choices: readonly T[]): T {
    return choices[this.int(choices.length)] as T
  }

  /** True once in `times`. */
  once(times: number): boolean {
    return this.int(times) === times - 1
  }

  list<T>(most: number, make: () => T): T[] {
    const list: T[] = []
    while (list.length < most && !this.isOver && this.int(3) > 0) list.push(make())
    return list
  }

  #next(): number {
    const byte = this.#bytes[this.#at] ?? 0
    this.#at += 1
    return byte
  }
}
