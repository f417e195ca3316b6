import { randomBytes } from 'node:crypto'
import { v7 } from 'uuid'
import type { System } from '../../src/core/ports/system.ts'
import type { TimeoutDefaults } from '../../src/core/tree.ts'

export const TIMEOUTS: TimeoutDefaults = {
  pickupMs: 300_000,
  progressingMs: 600_000,
  abortingMs: 300_000,
  runtimeLostMs: 300_000,
  cleanupMs: 60_000,
  crmSilenceMs: 300_000,
}

/** A clock that only the test moves, so that every deadline can be tested to the millisecond. */
export class TestClock implements System {
  #now: number
  constructor(start = Date.UTC(2026, 0, 1)) {
    this.#now = start
  }
  readonly standsStill = true
  now = (): Date => new Date(this.#now)
  get fixedTime(): Date {
    return this.now()
  }
  id = (): string => v7()
  /** In the middle, so that a backoff is what it is. */
  random = (): number => 0.5
  secret = (bytes: number): Uint8Array => randomBytes(bytes)
  advance(ms: number): void {
    this.#now += ms
  }
}
