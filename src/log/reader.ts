import type { Pool } from 'pg'
import type { Log, LogBatch, PhaseChangeQuery, Signal } from '../core/ports.ts'
import type { Logger } from '../logger.ts'
import { Follower } from './follower.ts'
import { readHead } from './head.ts'
import { Hub } from './hub.ts'
import type { Numberer } from './numberer.ts'
import { countChanges, readPage } from './page.ts'

export interface LogParts {
  readonly pool: Pool
  readonly signal: Signal
  readonly logger: Logger
  /** Left out in a process that writes nothing. */
  readonly numberer?: Pick<Numberer, 'committed'>
}

/** The log as one process reads it. Disposing of it ends all that follow, and outlives neither pool nor signal. */
export async function createLog({ pool, signal, logger, numberer }: LogParts): Promise<Log & AsyncDisposable> {
  const hub = new Hub({ pool, signal, logger }, await readHead(pool))
  const open = new Set<AbortController>()

  const follow = (
    query: PhaseChangeQuery,
    after: number | undefined,
    maxBatch: number,
    outer: AbortSignal,
  ): AsyncIterableIterator<LogBatch> => {
    const stop = new AbortController()
    const follower = new Follower({ pool, hub, logger }, query, maxBatch, stop.signal)
    const close = () => {
      stop.abort()
      open.delete(stop)
      outer.removeEventListener('abort', close)
    }
    const run = async function* () {
      try {
        await started
        yield* follower.batches()
      } finally {
        close()
      }
    }
    open.add(stop)
    outer.addEventListener('abort', close)
    if (outer.aborted) close()
    // At once, not with the first `next`: "from now on" is the moment of the call.
    const started = follower.start(after)
    started.catch(() => undefined)
    const batches = run()
    return {
      [Symbol.asyncIterator]() {
        return this
      },
      next: () => batches.next(),
      // A generator that waits does not hear of its return before it goes on: the abort makes it go on.
      return() {
        close()
        return batches.return(undefined)
      },
    }
  }

  return {
    head: async () => (await readHead(pool)).head,
    page: async (query, { after = 0, ...range }) => (await readPage(pool, query, { after, ...range })).changes,
    count: (query) => countChanges(pool, query),
    follow,
    committed: () => numberer?.committed(),
    async [Symbol.asyncDispose]() {
      for (const stop of open) stop.abort()
      await hub.close()
    },
  }
}

/** Of the log that this database holds: what the numberer announces under. */
export const readLogId = async (pool: Pool): Promise<string> => (await readHead(pool)).logId
