import { randomUUID } from 'node:crypto'
import type { Pool } from 'pg'
import type { WrittenBatch } from '../core/ports/phase-change.ts'
import type { Signal } from '../core/ports/signal.ts'
import { type Announcement, encode, logChannel } from './announcement.ts'
import { type LogIdentity, openLog } from './identity.ts'
import { LocalBatches, type TakenBatches } from './local-batches.ts'
import { type Numbered, readNumbered } from './number-batches.ts'

/** The announcer does not read more changes than this; readers that need them do. */
const MAX_READ = 250

/** Announces numbered batches: to readers in this process directly, to others over the signal. */
export class Announcer {
  /** Marks its messages, so that this process recognises its own. */
  readonly origin = randomUUID()
  readonly #pool: Pool
  readonly #signal: Signal
  readonly #localBatches = new LocalBatches()
  readonly #handlers: ((announcement: Announcement) => void)[] = []
  #identity: LogIdentity | null = null
  /** The database of the remembered batches, as far as it is known. */
  #instance: string | null = null

  constructor(pool: Pool, signal: Signal) {
    this.#pool = pool
    this.#signal = signal
  }

  listen(handler: (announcement: Announcement) => void): void {
    this.#handlers.push(handler)
  }

  /** Must be called before the first batch: what one database has not committed is never announced for another one. */
  opened(instance: string): void {
    this.#instance ??= instance
  }

  /** Keeps written batches, so that announcing them needs no read. */
  remember(batches: readonly WrittenBatch[]): void {
    for (const batch of batches) this.#localBatches.add(batch)
  }

  async announce(numbered: Numbered): Promise<void> {
    const { instance, from, through } = numbered
    const { records, traces } = this.#take(numbered)
    const announcement = { instance, from, through, changes: records ?? (await this.#read(numbered)), traces }
    for (const handle of this.#handlers) handle(announcement)
    // Without a connected signal only readers in this process can receive it.
    if (this.#signal.connected || this.#handlers.length === 0) await this.#publish(numbered, announcement)
  }

  #take({ instance, batches }: Numbered): TakenBatches {
    // Batches written to another database are not in this one, which may use their ids again.
    if (this.#instance !== null && this.#instance !== instance) this.#localBatches.clear()
    this.#instance = instance
    return this.#localBatches.take(batches)
  }

  async #read(numbered: Numbered): Promise<Announcement['changes']> {
    return numbered.through - numbered.from < MAX_READ ? await readNumbered(this.#pool, numbered) : null
  }

  async #publish(numbered: Numbered, announcement: Announcement): Promise<void> {
    if (!isOf(numbered, this.#identity)) this.#identity = await openLog(this.#pool)
    const identity = this.#identity
    // The database was replaced once more meanwhile: readers notice by themselves.
    if (!isOf(numbered, identity)) return
    this.#signal.publish(logChannel(identity.logId), encode(announcement, this.origin, identity))
  }
}

const isOf = ({ instance, epoch }: Numbered, identity: LogIdentity | null): identity is LogIdentity =>
  identity?.instance === instance && identity.epoch === epoch
