export interface DrainTimes {
  /** Milliseconds in which everything still works, while load balancers see that this process is not ready. */
  readonly delayMs: number
  /** Milliseconds for all of it, the delay included. Engine and connections to the database get the last of them. */
  readonly timeoutMs: number
}

/** Milliseconds that running requests get when a server closes that was not told to drain. */
const UNANNOUNCED_MS = 5_000

/** Share of the whole time, reserved for the shutdown after the requests. */
const RESERVE = 0.2
const RESERVE_MS = 5_000

/** The end of a process, which its parts ask how far it has come. */
export class Drain {
  #begun: { readonly endsAt: number; readonly isAnnounced: boolean } | null = null

  begin({ delayMs, timeoutMs }: DrainTimes): void {
    const endsAt = performance.now() + timeoutMs - Math.min(RESERVE_MS, timeoutMs * RESERVE)
    this.#begun ??= { endsAt, isAnnounced: delayMs > 0 }
  }

  get hasBegun(): boolean {
    return this.#begun !== null
  }
  /** Milliseconds that running requests still get. */
  get remainingMs(): number {
    return this.#begun ? Math.max(0, this.#begun.endsAt - performance.now()) : UNANNOUNCED_MS
  }
  /**
   * Clients come through a load balancer, which knows. A kept-alive connection that is idle must not be closed then before its
   * time, since the next request may be on its way. Without one, nobody waits for idle connections.
   */
  get sparesIdleConnections(): boolean {
    return this.#begun?.isAnnounced ?? false
  }
}
