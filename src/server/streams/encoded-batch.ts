import type { ResolvedCursor } from '../../core/ports/log.ts'
import { BufferPool } from './buffer-pool.ts'
import type { ClientSink } from './client-sink.ts'

/** One for the process: every batch releases its buffers before the event loop's next turn. */
const BUFFERS = new BufferPool()

interface Encoded {
  readonly encode: ClientSink['encode']
  readonly id: string
  readonly bytes: Buffer
  /** The kernel has taken every write of it. */
  isTaken: boolean
}

/** Messages for all live subscribers of a topic, encoded once per operation id. */
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

  /** Consecutive subscribers with the same operation id get the same bytes. Returns their number. */
  writeTo(sink: ClientSink, id: string): number {
    const encoded = this.#encoded(sink.encode, id)
    if (!sink.write(encoded.bytes)) encoded.isTaken = false
    return encoded.bytes.length
  }

  #encoded(encode: ClientSink['encode'], id: string): Encoded {
    if (this.#last?.encode === encode && this.#last.id === id) return this.#last
    this.release()
    this.#last = { encode, id, bytes: encode(id, this.payloads, BUFFERS.take), isTaken: true }
    return this.#last
  }

  /** Must be called before the event loop's next turn. */
  release(): void {
    if (this.#last?.isTaken) BUFFERS.release(this.#last.bytes)
    this.#last = null
  }
}
