import { useSyncExternalStore } from 'react'

/** One clock for all that counts, a second at a time. */
const watchers = new Set<() => void>()
let now = Date.now()
let timer: ReturnType<typeof setInterval> | undefined

function watch(watcher: () => void): () => void {
  watchers.add(watcher)
  timer ??= setInterval(() => {
    now = Date.now()
    for (const each of watchers) each()
  }, 1_000)
  return () => {
    watchers.delete(watcher)
    if (watchers.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
}
const read = (): number => now

/** Milliseconds since 1970, to the second. */
export const useNow = (): number => useSyncExternalStore(watch, read)
