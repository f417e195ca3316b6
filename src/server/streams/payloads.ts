/** What is there at once is not waited for: thousands of executions would be in hand at the same time. */
export type Payload = Buffer | Promise<Buffer>

interface Kept {
  readonly payload: Payload
  readonly at: number
  bytes: number
}

/** What an event shows of the present (an object's phase) is shown for so long to those who come later. */
const FRESH_MS = 1_000
const MAX_BYTES = 32 * 1024 * 1024
/** A rough guess at what an entry costs beside its payload. */
const OVERHEAD = 200

/** Payloads that others may need in a moment, such as those who come back together after a cut connection. */
export class Payloads {
  readonly #kept = new Map<string, Kept>()
  #bytes = 0

  /** @param render is called once for all who ask for the key in the same moment */
  get(key: string, render: () => Payload): Payload {
    const now = performance.now()
    const known = this.#kept.get(key)
    if (known && now - known.at < FRESH_MS) return known.payload
    const kept: Kept = { payload: render(), at: now, bytes: OVERHEAD }
    this.#drop(key)
    this.#kept.set(key, kept)
    this.#bytes += OVERHEAD
    const count = ({ length }: Buffer) => {
      if (this.#kept.get(key) !== kept) return
      kept.bytes += length
      this.#bytes += length
      this.#trim(now)
    }
    if (Buffer.isBuffer(kept.payload)) count(kept.payload)
    else kept.payload.then(count, () => this.#drop(key))
    return kept.payload
  }

  #drop(key: string): void {
    const kept = this.#kept.get(key)
    if (!kept) return
    this.#kept.delete(key)
    this.#bytes -= kept.bytes
  }

  /** They are in the order of their age. */
  #trim(now: number): void {
    for (const [key, { at }] of this.#kept) {
      if (this.#bytes <= MAX_BYTES && now - at < FRESH_MS) return
      this.#drop(key)
    }
  }
}
