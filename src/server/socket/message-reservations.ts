import type { LimitExceeded } from '../limits/accounts.ts'
import type { Caller, Reservation } from '../limits/callers.ts'

/** A message of a WebSocket, which counts as a request; and what it reserves until it is handled, or a subscription until it ends. */
export class MessageReservations {
  readonly #caller: Caller | null
  readonly #bytes: Reservation | null
  /** Its caller has sent too many. */
  readonly excess: LimitExceeded | null
  #operation: Reservation | null = null

  /** @param bytes of the message itself; null: it is small */
  constructor(caller: Caller | null, bytes: Reservation | null) {
    this.#caller = caller
    this.#bytes = bytes
    this.excess = caller?.request() ?? null
  }

  /** Counts as further requests what it turns out to cost. */
  charge(requests: number): void {
    this.#caller?.charge(requests)
  }

  /** Opens the message's operation. */
  open(resource: 'openOperations' | 'openSubscriptions'): LimitExceeded | null {
    this.#operation ??= this.#caller?.reserve(resource) ?? null
    return this.#operation?.take() ?? null
  }

  end(): void {
    this.#bytes?.end()
    this.#operation?.end()
  }
}
