import type { Pool } from 'pg'
import type { Log, LogBatch, Signal } from '../core/ports.ts'
import type { Logger } from '../logger.ts'
import { Follower } from './follower.ts'
import { readHead, sharedHead } from './head.ts'
import { Hub } from './hub.ts'
import type { Numberer } from './numberer.ts'
import { check, Older } from './older.ts'
import { countChanges, listChanges } from './page.ts'

export interface LogParts {
  readonly pool: Pool
  readonly signal: Signal
  readonly logger: Logger
  /** Left out in a process that writes nothing. */
  readonly numberer?: Pick<Numberer, 'appended' | 'committed' | 'listen' | 'origin'>
}

/** The log as one process reads it. Disposing of it ends all that follow, and outlives neither pool nor signal. */
export async function createLog({ pool, signal, logger, numberer }: LogParts): Promise<Log & AsyncDisposable> {
  const hub = new Hub({ pool, signal, logger, numberer }, await readHead(pool))
  const stop = new AbortController()
  const places = takePlaces(hub, pool, logger)
  return {
    ...places,
    head: async () => (await readHead(pool)).head,
    page: (query, range) => listChanges(pool, query, range),
    count: (query) => countChanges(pool, query),
    follow: (query, after, maxBatch, outer) =>
      follow((own) => new Follower(places, query, maxBatch, own), after, AbortSignal.any([stop.signal, outer])),
    get stats() {
      return hub.stats
    },
    appended: (batches) => numberer?.appended(batches),
    committed: (batches) => numberer?.committed(batches),
    async [Symbol.asyncDispose]() {
      stop.abort()
      await hub.close()
    },
  }
}

/** Places in the log, and what comes after them: from memory where it is recent, from the database where it is not. */
function takePlaces(hub: Hub, pool: Pool, logger: Logger): Pick<Log, 'place' | 'check' | 'next' | 'listen'> {
  const older = new Older(pool, logger)
  const head = sharedHead(pool)
  return {
    async place(after) {
      const at = await head()
      hub.saw(at)
      const place = { logId: at.logId, sequence: after ?? at.head }
      check(at, place)
      return place
    },
    check: async (place) => check(await head(), place),
    next(query, place, limit) {
      const { recent } = hub
      if (place.logId === hub.logId) {
        if (place.sequence >= recent.through) return null
        if (place.sequence >= recent.after) return recent.read(query, place.sequence, limit)
      }
      return older.next(query, place, recent.through)
    },
    listen(query, listener) {
      hub.join(query, listener)
      return () => hub.leave(listener)
    },
  }
}

/** Runs a follower as an iterator. */
function follow(
  create: (signal: AbortSignal) => Follower,
  after: number | undefined,
  outer: AbortSignal,
): AsyncIterableIterator<LogBatch> {
  const stop = new AbortController()
  const follower = create(stop.signal)
  const close = () => {
    stop.abort()
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

/** Of the log that this database holds: what the numberer announces under. */
export const readLogId = async (pool: Pool): Promise<string> => (await readHead(pool)).logId
