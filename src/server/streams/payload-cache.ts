/** A synchronous execution gives a Buffer: awaiting thousands of them would keep all results in memory at once. */
export type EncodedPayload = Buffer | Promise<Buffer>

interface Kept {
  readonly payload: EncodedPayload
  readonly at: number
  bytes: number
}

/** A payload may contain current state (an object's phase), so it is reused for so long only. */
const FRESH_MS = 1_000
const MAX_BYTES = 32 * 1024 * 1024
/** A rough estimate of an entry's memory beside its payload. */
const OVERHEAD = 200

/** Caches payloads for subscribers that need the same ones within a second, e.g. when many reconnect together. */
export class PayloadCache {
  readonly #kept = new Map<string, Kept>()
  #bytes = 0

  /** @param render is called once for all calls with the same key within a second */
  get(key: string, render: () => EncodedPayload): EncodedPayload {
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

  /** Entries are in the order of their age. */
  #trim(now: number): void {
    for (const [key, { at }] of this.#kept) {
      if (this.#bytes <= MAX_BYTES && now - at < FRESH_MS) return
      this.#drop(key)
    }
  }
}
