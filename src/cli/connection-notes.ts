import type { ConnectionState } from '../client/index.ts'
import { type Output, printLine } from './terminal/io.ts'

/** Servers restart one by one, and proxies cut what is idle: a socket that is back by then is no news. */
const SILENT_MS = 2_000

/** Says on stderr that the server does not answer, and that it does again: once each, while streams reconnect by themselves. */
export interface ConnectionNotes extends Disposable {
  readonly changed: (state: ConnectionState) => void
  /** Calls the listener after each line. */
  listen(listener: () => void): Disposable
}

/**
 *               lost                 SILENT_MS
 *   answering -------->  waiting  -------------->  told
 *       ^                   |                       |
 *       +----- connected, or closed by ourselves ---+  (from told: with a line if connected)
 */
export function connectionNotes(stderr: Output): ConnectionNotes {
  const listeners = new Set<() => void>()
  let waiting: NodeJS.Timeout | undefined
  let isTold = false
  const say = (line: string): void => {
    printLine(stderr, line)
    for (const listener of listeners) listener()
  }
  return {
    changed(state) {
      if (state === 'lost') {
        waiting ??= setTimeout(() => {
          isTold = true
          say('The server does not answer: trying again.')
        }, SILENT_MS)
        return
      }
      clearTimeout(waiting)
      waiting = undefined
      if (isTold && state === 'connected') say('The server answers again.')
      isTold = false
    },
    listen(listener) {
      listeners.add(listener)
      return { [Symbol.dispose]: () => void listeners.delete(listener) }
    },
    [Symbol.dispose]() {
      clearTimeout(waiting)
    },
  }
}
