/** Milliseconds. */
const BEAT_MS = 250

/** Each function recurs after its number of beats. */
const calls = new Map<() => void, number>()
let timer: NodeJS.Timeout | null = null
let beats = 0

/**
 * Calls at regular times until the returned function is called. One timer serves all whose times are multiples of its own, so that a process
 * that has nothing to do wakes seldom. It keeps no process alive.
 */
export function every(ms: number, call: () => void): () => void {
  if (ms % BEAT_MS !== 0) {
    const own = setInterval(call, ms).unref()
    return () => clearInterval(own)
  }
  // The same function may recur for several callers.
  const recurring = () => call()
  calls.set(recurring, ms / BEAT_MS)
  timer ??= setInterval(beat, BEAT_MS).unref()
  return () => {
    calls.delete(recurring)
    if (calls.size > 0 || timer === null) return
    clearInterval(timer)
    timer = null
  }
}

function beat(): void {
  beats += 1
  for (const [call, each] of calls) if (beats % each === 0) call()
}
