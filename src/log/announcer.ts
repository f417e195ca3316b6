import { randomUUID } from 'node:crypto'
import type { Pool } from 'pg'
import type { WrittenBatch } from '../core/ports/phase-change.ts'
import type { Signal } from '../core/ports/signal.ts'
import { type Announcement, encode, logChannel } from './announcement.ts'
import { type LogIdentity, openLog } from './identity.ts'
import { LocalBatches } from './local-batches.ts'
import { type Numbered, readNumbered } from './number-batches.ts'

/** More changes than this are not read to be announced: whoever needs them reads them. */
const MAX_READ = 250

/** Tells the readers of the log what was numbered: those in this process directly, others over the signal. */
export class Announcer {
  /** Marks what it publishes, so that those who hear it from itself can tell. */
  readonly origin = randomUUID()
  readonly #pool: Pool
  readonly #signal: Signal
  readonly #localBatches = new LocalBatches()
  readonly #handlers: ((announcement: Announcement) => void)[] = []
  #identity: LogIdentity | null = null
  #instance: string | null = null

  constructor(pool: Pool, signal: Signal) {
    this.#pool = pool
    this.#signal = signal
  }

  listen(handler: (announcement: Announcement) => void): void {
    this.#handlers.push(handler)
  }

  /** What is announced later need not be read then. */
  remember(batches: readonly WrittenBatch[]): void {
    for (const batch of batches) this.#localBatches.add(batch)
  }

  async announce(numbered: Numbered): Promise<void> {
    const { instance, from, through } = numbered
    const announcement = { instance, from, through, changes: await this.#changesOf(numbered) }
    for (const handle of this.#handlers) handle(announcement)
    // When nobody elsewhere can hear it, those who listen here have.
    if (this.#signal.connected || this.#handlers.length === 0) await this.#publish(numbered, announcement)
  }

  async #changesOf(numbered: Numbered): Promise<Announcement['changes']> {
    const { instance, from, through, batches } = numbered
    // What another database was given is not in this one, which may use the same ids again.
    if (this.#instance !== null && this.#instance !== instance) this.#localBatches.clear()
    this.#instance = instance
    const known = this.#localBatches.take(batches)
    return known ?? (through - from < MAX_READ ? await readNumbered(this.#pool, numbered) : null)
  }

  async #publish(numbered: Numbered, announcement: Announcement): Promise<void> {
    if (!isOf(numbered, this.#identity)) this.#identity = await openLog(this.#pool)
    const identity = this.#identity
    // The database was replaced once more meanwhile: readers look for themselves.
    if (!isOf(numbered, identity)) return
    this.#signal.publish(logChannel(identity.logId), encode(announcement, this.origin, identity))
  }
}

const isOf = ({ instance, epoch }: Numbered, identity: LogIdentity | null): identity is LogIdentity =>
  identity?.instance === instance && identity.epoch === epoch
