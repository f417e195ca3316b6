/** Clock, ids and randomness. Nothing else provides them, so that every deadline can be tested to the millisecond. */
export interface System {
  /** The database's clock as this process estimates it. Statements that judge leases and deadlines use the database's own. */
  now(): Date
  /** The time that statements use, as it is when this is read. Null, as always outside of tests: the database's own clock. */
  readonly fixedTime: Date | null
  /** The time passes only when a test moves it, so no other clock shows how much has passed. */
  readonly standsStill?: true
  /** A uuid v7: grows with time. */
  id(): string
  /** In [0, 1). */
  random(): number
  /** Unguessable bytes. */
  secret(bytes: number): Uint8Array
}
