import type { Pool } from 'pg'
import type { Log } from '../core/ports/log.ts'
import type { Signal } from '../core/ports/signal.ts'
import type { Logger } from '../logger.ts'
import { CursorResolver } from './cursor-resolver.ts'
import { readHead } from './head.ts'
import { Hub } from './hub.ts'
import { openLog } from './identity.ts'
import { isAnythingWaiting, numberBatches } from './number-batches.ts'
import type { Numberer } from './numberer.ts'
import { countChanges } from './page.ts'
import { readSeals } from './seals.ts'

export interface LogParts {
  readonly pool: Pool
  readonly signal: Signal
  readonly logger: Logger
  /** Missing in a process that writes nothing. */
  readonly numberer?: Pick<Numberer, 'opened' | 'appended' | 'committed' | 'listen' | 'origin' | 'numberAll'>
}

/** The log as one process reads it. */
export interface ProcessLog extends Log, AsyncDisposable {
  /** Calls back when the database is another one, or has restarted: caches of its content may be wrong. */
  onReplaced(handler: () => void): void
  /** Names the running server of the database, as it was when the log was opened last. */
  readonly instance: string
}

/** Opens the log. Dispose it before pool and signal. */
export async function createLog({ pool, signal, logger, numberer }: LogParts): Promise<ProcessLog> {
  const replacedHandlers = new Set<() => void>()
  const onReplaced = () => {
    for (const handler of replacedHandlers) handler()
  }
  const identity = await openLog(pool)
  numberer?.opened(identity.instance)
  const hub = new Hub({ pool, signal, logger, numberer, onReplaced }, identity, await readHead(pool))
  const cursors = new CursorResolver(hub, pool, logger)
  return {
    resolve: (after) => cursors.resolve(after),
    next: (query, cursor, limit) => cursors.next(query, cursor, limit),
    renew: (cursor) => cursors.renew(cursor),
    listen: (query, listener) => cursors.listen(query, listener),
    async caughtUp() {
      if (!(await isAnythingWaiting(pool))) return
      // A process without a numberer numbers here, a page at a time.
      if (numberer) await numberer.numberAll()
      else while ((await numberBatches(pool))?.full);
    },
    end: (which) => cursors.end(which),
    requireReached: (cursor) => cursors.requireReached(cursor),
    page: (query, range) => cursors.page(query, range),
    checkWindow: (window) => cursors.checkWindow(window),
    count: (query) => countChanges(pool, query),
    seals: (after, limit) => readSeals(pool, after, limit),
    get stats() {
      return hub.stats
    },
    get instance() {
      return hub.identity.instance
    },
    onReplaced: (handler) => void replacedHandlers.add(handler),
    appended: (batches) => numberer?.appended(batches),
    committed: (batches) => numberer?.committed(batches),
    async [Symbol.asyncDispose]() {
      await hub.close()
    },
  }
}
