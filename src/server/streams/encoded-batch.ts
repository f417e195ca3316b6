import type { ResolvedCursor } from '../../core/ports/log.ts'
import { BufferPool } from './buffer-pool.ts'
import type { ClientSink } from './client-sink.ts'

/** One for the process: nothing of it is in use when others have their turn. */
const BUFFERS = new BufferPool()

interface Encoded {
  readonly encode: ClientSink['encode']
  readonly id: string
  readonly bytes: Buffer
  /** By all whom it was written to. */
  isTaken: boolean
}

/** Messages for all who are live, with what they have in common made only once. */
export class EncodedBatch {
  readonly after: ResolvedCursor
  readonly through: ResolvedCursor
  readonly payloads: readonly Buffer[]
  #last: Encoded | null = null

  constructor(after: ResolvedCursor, through: ResolvedCursor, payloads: readonly Buffer[]) {
    this.after = after
    this.through = through
    this.payloads = payloads
  }

  /** Clients that number their operations alike, one after the other, get the very same bytes. Returns how many. */
  writeTo(sink: ClientSink, id: string): number {
    const encoded = this.#encoded(sink.encode, id)
    if (!sink.write(encoded.bytes)) encoded.isTaken = false
    return encoded.bytes.length
  }

  #encoded(encode: ClientSink['encode'], id: string): Encoded {
    if (this.#last?.encode === encode && this.#last.id === id) return this.#last
    this.rest()
    this.#last = { encode, id, bytes: encode(id, this.payloads, BUFFERS.take), isTaken: true }
    return this.#last
  }

  /** To be called before others have their turn. */
  rest(): void {
    if (this.#last?.isTaken) BUFFERS.giveBack(this.#last.bytes)
    this.#last = null
  }
}
