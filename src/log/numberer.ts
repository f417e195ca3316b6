import { randomUUID } from 'node:crypto'
import type { Pool } from 'pg'
import type { Signal, WrittenBatch } from '../core/ports.ts'
import type { Logger } from '../logger.ts'
import { type Announcement, encode, logChannel } from './announcement.ts'
import { isAnythingWaiting, type Numbered, numberBatches, readNumbered } from './number-batches.ts'
import { Written } from './written.ts'

/** Bounds what a crash between a commit and its numbering costs, in latency. */
const SWEEP_MS = 250
/** More changes than this are not read to be announced: whoever needs them reads them. */
const MAX_READ = 250

export interface Numberer extends AsyncDisposable {
  /** Marks what it publishes, so that those who hear it from itself can tell. */
  readonly origin: string
  /** This is about to be committed; it may be numbered before `committed` is called. Cheap, never throws. */
  appended(batches: readonly WrittenBatch[]): void
  /** Something was committed. Cheap, never throws; called during a pass it causes another one. */
  committed(batches?: readonly WrittenBatch[]): void
  /** Calls back with each announcement, without the detour over a signal. Synchronous; must not throw. */
  listen(handler: (announcement: Announcement) => void): void
  /** Ends when all that was committed before the call is numbered. Rejects when the database cannot be reached. */
  settle(): Promise<void>
}

export interface NumbererOptions {
  readonly pool: Pool
  readonly signal: Signal
  readonly logger: Logger
  readonly logId: string
}

/** Numbers committed batches and announces them. Each process that writes has one; they need no leader. */
export function createNumberer({ pool, signal, logger, logId }: NumbererOptions): Numberer {
  const channel = logChannel(logId)
  const origin = randomUUID()
  const written = new Written()
  const handlers: ((announcement: Announcement) => void)[] = []
  let dirty = false
  let passes: Promise<void> | null = null
  let announcing = Promise.resolve()
  let closed = false

  const announce = async (numbered: Numbered): Promise<void> => {
    const { from, through, batches } = numbered
    const known = written.take(batches)
    const changes = known ?? (through - from < MAX_READ ? await readNumbered(pool, numbered) : null)
    const announcement = { from, through, changes }
    for (const handle of handlers) handle(announcement)
    // When nobody elsewhere can hear it, those who listen here have.
    if (signal.connected || handlers.length === 0) signal.publish(channel, encode(announcement, origin))
  }
  const pass = async (): Promise<void> => {
    try {
      while (dirty) {
        // Before the numbering, so that a commit during it is not forgotten.
        dirty = false
        const numbered = await numberBatches(pool)
        if (!numbered) continue
        if (numbered.full) dirty = true
        // Not awaited: the next pass need not wait for it, and a lost announcement only costs a reader a second.
        announcing = announcing
          .then(() => announce(numbered))
          .catch((error: unknown) => logger.debug({ err: error }, 'An announcement was lost.'))
      }
    } finally {
      // In the same turn as the last look at `dirty`: a commit in between would wait for the sweep.
      passes = null
    }
  }
  const start = (): Promise<void> => {
    dirty = true
    passes ??= pass()
    return passes
  }
  const failed = (error: unknown): void => {
    if (!closed) logger.warn({ err: error }, 'Numbering the log failed; the next sweep tries again.')
  }
  const sweep = async (): Promise<void> => {
    if (passes || !(await isAnythingWaiting(pool))) return
    await start()
  }
  let sweeping: Promise<void> | null = null
  const timer = setInterval(() => {
    sweeping ??= sweep()
      .catch(failed)
      .finally(() => {
        sweeping = null
      })
  }, SWEEP_MS)

  return {
    origin,
    listen: (handler) => void handlers.push(handler),
    appended(batches) {
      for (const batch of batches) written.add(batch)
    },
    committed(batches = []) {
      for (const batch of batches) written.add(batch)
      if (passes) dirty = true
      else if (!closed) start().catch(failed)
    },
    settle: start,
    async [Symbol.asyncDispose]() {
      closed = true
      clearInterval(timer)
      await sweeping
      await passes?.catch(() => undefined)
      await announcing
    },
  }
}
