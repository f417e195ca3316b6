import { setTimeout as delay } from 'node:timers/promises'
import type { Pool } from 'pg'
import type { Client } from '../store/client.ts'
import { dueRoots } from '../store/queue.ts'
import { nextMoment, openWork } from '../store/standing.ts'

/** How often the server is asked whether it is at rest, and how often its searches are woken meanwhile, in milliseconds. */
const LOOK_MS = 3
const WAKE_MS = 10
/**
 * Milliseconds of real time, and looks, that agents get for their work at one moment. Looks take longer on a busy machine, as agents do: there
 * an agent that answers at once must not lose its lease.
 */
const WORK_MS = 1_000
const WORK_LOOKS = 150
/** Milliseconds of real time in which a server is at rest, unless it waits for an agent. */
const REST_MS = 30_000
/** Moments in one move: more would take minutes. */
const MAX_STEPS = 10_000

interface MovedTimeParts {
  /** The database of the server. */
  readonly pool: Pool
  now(): Date
  /** Sets the server's time. */
  set(time: Date): void
  /** Wakes everything in the server that waits for a time. */
  wake(): void
  /** Types of work that agents of the test claim. */
  types(): readonly string[]
  /** True if nothing else in the server has anything to do before a time comes. */
  isAtRest(client: Client): Promise<boolean>
}

/** Moves the time of a server on, from one moment at which something is due to the next. */
export class MovedTime {
  readonly #parts: MovedTimeParts
  /** Work that no agent has ended in time: it is waited for no more. */
  readonly #slow = new Set<string>()

  constructor(parts: MovedTimeParts) {
    this.#parts = parts
  }

  async advance(ms: number): Promise<void> {
    const { pool, now, set } = this.#parts
    const end = new Date(now().getTime() + ms)
    await this.#settle()
    for (let step = 0; ; step++) {
      const next = await nextMoment(pool, now())
      if (next === null || next >= end) break
      if (step === MAX_STEPS)
        throw new Error(`More than ${MAX_STEPS} moments lie before ${end.toISOString()}: advance by less.`)
      set(next)
      await this.#settle()
    }
    set(end)
    await this.#settle()
  }

  /** Resolves once nothing is due, and agents have had their time for what they work on. */
  async #settle(): Promise<void> {
    const since = performance.now()
    let wokenAt = Number.NEGATIVE_INFINITY
    let looks = 0
    for (;;) {
      if (performance.now() - wokenAt >= WAKE_MS) {
        wokenAt = performance.now()
        this.#parts.wake()
      }
      const { due, isAtRest, work } = await this.#look()
      const waitedMs = performance.now() - since
      if (due.length === 0 && isAtRest) {
        const open = work.filter((one) => !this.#slow.has(one))
        if (open.length === 0) return
        looks += 1
        if (waitedMs > WORK_MS && looks > WORK_LOOKS) {
          for (const one of open) this.#slow.add(one)
          return
        }
      } else if (waitedMs > REST_MS)
        throw new Error(
          `The server is not at rest after ${REST_MS / 1_000} s: ${due.join(', ') || 'firings of a schedule'} are due.`,
        )
      await delay(LOOK_MS)
    }
  }

  /** Reads all of it in one snapshot, since each transaction may pass work on from one table to another. */
  async #look() {
    const { pool, now, types, isAtRest } = this.#parts
    const client = await pool.connect()
    let broken = true
    try {
      await client.query('begin transaction isolation level repeatable read, read only')
      const time = now()
      const { rootIds: due } = await dueRoots(client, { time, limit: 3, loneKinds: [] })
      const atRest = await isAtRest(client)
      const work = await openWork(client, time, types())
      await client.query('commit')
      broken = false
      return { due, isAtRest: atRest, work: work.map((one) => Object.values(one).join()) }
    } finally {
      client.release(broken)
    }
  }
}
