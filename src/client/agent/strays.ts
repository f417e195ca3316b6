import type { AsyncLocalStorage } from 'node:async_hooks'

/**
 * Errors that code of others leaves behind: a promise that is rejected later and handled by nobody, a timer or an event
 * that throws. Node ends the process for one, and with it all else that the process works on. While an agent runs they are
 * handed to the work that began what has failed; all others end the process as before.
 */

/** Handles the stray errors of one piece of work. */
export interface StrayHandler {
  /** Never throws. */
  take(error: unknown): void
}

/** Null: not in Node. A page survives such errors. */
let storage: AsyncLocalStorage<StrayHandler> | null | undefined
let watchers = 0

/** Runs others' code. Everything that it begins, directly or indirectly, belongs to the handler. */
export function ownStrays<T>(handler: StrayHandler, run: () => T): T {
  const owners = storageOfProcess()
  return owners ? owners.run(handler, run) : run()
}

/** Hands strays to their handlers from now on, until the result is called. */
export function watchStrays(): () => void {
  if (!storageOfProcess()) return () => undefined
  watchers += 1
  if (watchers === 1) {
    process.on('unhandledRejection', onRejection)
    process.on('uncaughtException', onException)
  }
  return () => {
    watchers -= 1
    if (watchers === 0) stopWatching()
  }
}

function storageOfProcess(): AsyncLocalStorage<StrayHandler> | null {
  if (storage === undefined) {
    const hooks = typeof process === 'object' ? process.getBuiltinModule?.('node:async_hooks') : undefined
    storage = hooks ? new hooks.AsyncLocalStorage<StrayHandler>() : null
  }
  return storage
}

const onRejection = (error: unknown): void => give('unhandledRejection', error)
const onException = (error: unknown): void => give('uncaughtException', error)

function give(event: 'unhandledRejection' | 'uncaughtException', error: unknown): void {
  const handler = storage?.getStore()
  if (handler) return handler.take(error)
  // The application has its own way with them.
  if (process.listenerCount(event) > 1) return
  stopWatching()
  // Without a listener the process ends as it would have done at once.
  setImmediate(() => {
    throw error
  })
}

function stopWatching(): void {
  process.off('unhandledRejection', onRejection)
  process.off('uncaughtException', onException)
}
