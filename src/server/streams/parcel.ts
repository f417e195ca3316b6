import type { LogPlace } from '../../core/ports.ts'
import type { Outlet } from './outlet.ts'
import { Scratch } from './scratch.ts'

/** One for the process: nothing of it is in use when others have their turn. */
const SCRATCH = new Scratch()

interface Encoded {
  readonly encode: Outlet['encode']
  readonly id: string
  readonly bytes: Buffer
  /** By all whom it was written to. */
  isTaken: boolean
}

/** Messages for all who are live, with what they have in common made only once. */
export class Parcel {
  readonly after: LogPlace
  readonly through: LogPlace
  readonly payloads: readonly Buffer[]
  #last: Encoded | null = null

  constructor(after: LogPlace, through: LogPlace, payloads: readonly Buffer[]) {
    this.after = after
    this.through = through
    this.payloads = payloads
  }

  /** Clients that number their operations alike, one after the other, get the very same bytes. Returns how many. */
  writeTo(outlet: Outlet, id: string): number {
    const encoded = this.#encoded(outlet.encode, id)
    if (!outlet.write(encoded.bytes)) encoded.isTaken = false
    return encoded.bytes.length
  }

  #encoded(encode: Outlet['encode'], id: string): Encoded {
    if (this.#last?.encode === encode && this.#last.id === id) return this.#last
    this.rest()
    this.#last = { encode, id, bytes: encode(id, this.payloads, SCRATCH.take), isTaken: true }
    return this.#last
  }

  /** To be called before others have their turn. */
  rest(): void {
    if (this.#last?.isTaken) SCRATCH.giveBack(this.#last.bytes)
    this.#last = null
  }
}
