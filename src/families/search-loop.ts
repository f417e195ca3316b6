import { isDatabaseUnavailable } from '../core/database-unavailable.ts'
import { SEARCH_WATCHED_MS } from '../store/write-watch.ts'
import type { WorkerParts } from './define-family.ts'

/** A search runs after writes, at most this often, in milliseconds, and soon after one that has failed. */
const SEARCH_MS = 100
const FAILED_MS = 1_000

export interface Search {
  /** A name for the log of the process. */
  readonly what: string
  /** Milliseconds between two rounds at least; absent: 100. */
  readonly pauseMs?: number
  /** Milliseconds after which it runs again without a write; null: when it is idle. */
  round(stop: AbortSignal): Promise<number | null>
}
export interface SearchLoop extends AsyncDisposable {
  /** Searches soon, as if something was written. */
  wake(): void
}

/** Searches for work after each write of any process, and now and then. */
export function startSearchLoop(
  { writes, logger }: Pick<WorkerParts, 'writes' | 'logger'>,
  { what, round, pauseMs = SEARCH_MS }: Search,
): SearchLoop {
  const stop = new AbortController()
  let isWritten = true
  let end = (_isJump = false) => {}
  const wake = (isJump = false) => {
    isWritten = true
    end(isJump)
  }
  writes.onWrite(wake)
  const sleep = (ms: number, isDeaf = false) =>
    new Promise<void>((resolve) => {
      if (stop.signal.aborted) return resolve()
      const timer = setTimeout(resolve, ms)
      end = (isJump = false) => {
        if (isDeaf && !isJump && !stop.signal.aborted) return
        clearTimeout(timer)
        resolve()
      }
    })
  const run = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      isWritten = false
      let idleMs: number | null = null
      try {
        idleMs = await round(stop.signal)
      } catch (error) {
        if (!isDatabaseUnavailable(error)) logger.error({ err: error }, `${what} failed`)
        await sleep(FAILED_MS, true)
        isWritten = true
      }
      await sleep(pauseMs, true)
      if (!isWritten) await sleep(idleMs ?? SEARCH_WATCHED_MS)
    }
  }
  // The first round comes once the caller has what it needs for one.
  const loop = Promise.resolve().then(run)
  return {
    wake,
    async [Symbol.asyncDispose]() {
      stop.abort()
      end()
      await loop
    },
  }
}
