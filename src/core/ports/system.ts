/** Clock, ids and randomness come in through here and nowhere else, so that every deadline can be tested to the millisecond. */
export interface System {
  /** By the database's clock, as well as this process knows it: what leases and deadlines are judged by a statement asks. */
  now(): Date
  /** What statements are to take for the time. Null, as always outside of tests: the database's own clock. */
  readonly fixedTime: Date | null
  /** A uuid v7: grows with time. */
  id(): string
  /** In [0, 1). */
  random(): number
  /** Unguessable bytes. */
  secret(bytes: number): Uint8Array
}
