import { useEffect, useState, useSyncExternalStore } from 'react'

/** One clock for everything that counts seconds. */
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

const OFTEN_MS = 200

/** The same for growing bars; stands still while there are none. */
export function useFineNow(runs: boolean): number {
  const [at, setAt] = useState(Date.now)
  useEffect(() => {
    setAt(Date.now())
    if (!runs) return
    const often = setInterval(() => document.hidden || setAt(Date.now()), OFTEN_MS)
    return () => clearInterval(often)
  }, [runs])
  return at
}
