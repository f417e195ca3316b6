import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { isRunning, type Postmaster, stopAtExit, stopPostmaster } from './postmaster.ts'

/** The interval of the checks, and the delay after a start that failed. */
const LOOK_MS = 500

export interface SuperviseOptions {
  /** Finds or starts the postmaster. */
  readonly start: (signal: AbortSignal) => Promise<Postmaster>
  readonly logger: Logger
  /** Gives up the first start. */
  readonly signal: AbortSignal
}

/** Keeps a postmaster running: one that ends by itself is started again, until this is disposed. */
export async function supervise({ start, logger, signal }: SuperviseOptions): Promise<AsyncDisposable> {
  const stopping = new AbortController()
  let postmaster = await start(signal)
  const atExit = stopAtExit(() => postmaster)
  const watching = watch()

  async function watch(): Promise<void> {
    while (!stopping.signal.aborted) {
      if (!(await isRunning(postmaster))) await startAgain()
      await delay(LOOK_MS, undefined, { ref: false, signal: stopping.signal }).catch(() => {})
    }
  }
  async function startAgain(): Promise<void> {
    logger.error({ pid: postmaster.pid }, 'the embedded Postgres ended by itself and is started again')
    try {
      postmaster = await start(stopping.signal)
    } catch (err) {
      if (!stopping.signal.aborted) logger.error({ err }, 'the embedded Postgres could not be started again')
    }
  }

  return {
    async [Symbol.asyncDispose]() {
      stopping.abort()
      await watching
      await stopPostmaster(postmaster)
      atExit[Symbol.dispose]()
    },
  }
}
