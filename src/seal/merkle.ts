import { hash } from 'node:crypto'

/** The Merkle tree of RFC 6962 over leaves that are hashes already. */

const node = (left: Uint8Array, right: Uint8Array): Buffer =>
  hash('sha256', Buffer.concat([Buffer.of(1), left, right]), 'buffer')

/** The roots of the complete trees that a tree consists of: enough to append, whatever its size. */
export class Frontier {
  readonly #peaks: Uint8Array[] = []
  #size = 0

  get size(): number {
    return this.#size
  }

  append(leaf: Uint8Array): void {
    let top = leaf
    for (let rest = this.#size; rest % 2 === 1; rest = (rest - 1) / 2) top = node(this.#peaks.pop() ?? top, top)
    this.#peaks.push(top)
    this.#size += 1
  }

  /** The root of the tree, in hexadecimal digits. */
  root(): string {
    const [last, ...others] = this.#peaks.toReversed()
    if (!last) return hash('sha256', '')
    return Buffer.from(others.reduce((right, left) => node(left, right), last)).toString('hex')
  }
}
