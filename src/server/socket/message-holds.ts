import type { Excess } from '../limits/accounts.ts'
import type { Caller, Hold } from '../limits/callers.ts'

/** The reservation of a WebSocket message until it is handled; for a subscription, until that ends. */
export class MessageHolds {
  readonly #caller: Caller | null
  readonly #bytes: Hold | null
  #operation: Hold | null = null

  /** @param bytes of the message itself; null: it is small */
  constructor(caller: Caller | null, bytes: Hold | null) {
    this.#caller = caller
    this.#bytes = bytes
  }

  /** Counts the message as a request. */
  request(): Excess | null {
    return this.#caller?.request() ?? null
  }

  /** Counts as further requests what it turns out to cost. */
  charge(requests: number): void {
    this.#caller?.charge(requests)
  }

  /** Opens the message's operation. */
  open(resource: 'openOperations' | 'openSubscriptions'): Excess | null {
    this.#operation ??= this.#caller?.hold(resource) ?? null
    return this.#operation?.take() ?? null
  }

  end(): void {
    this.#bytes?.end()
    this.#operation?.end()
  }
}
