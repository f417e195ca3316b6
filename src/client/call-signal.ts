/** Timers know no more: beyond, they would ring at once. */
const LONGEST_MS = 2 ** 31 - 1

export interface CallSignal extends Disposable {
  readonly signal: AbortSignal
  /** It took too long. */
  readonly isLate: boolean
}

/**
 * What ends one call: a clock, or one of these signals. `AbortSignal.any` and `AbortSignal.timeout` hold things weakly,
 * and whatever is held so survives until the whole heap is collected: too much for what is made for each call.
 */
export function callSignal(timeoutMs: number, signals: readonly (AbortSignal | undefined)[]): CallSignal {
  const call = new AbortController()
  let isLate = false
  const ring = (): void => {
    isLate = true
    call.abort()
  }
  const timer = setTimeout(ring, Math.min(timeoutMs, LONGEST_MS))
  const listened = signals.flatMap((signal) => (signal ? [follow(signal, call)] : []))
  return {
    signal: call.signal,
    get isLate() {
      return isLate
    },
    [Symbol.dispose]() {
      clearTimeout(timer)
      for (const stop of listened) stop()
    },
  }
}

function follow(signal: AbortSignal, call: AbortController): () => void {
  const abort = (): void => call.abort(signal.reason)
  if (signal.aborted) abort()
  signal.addEventListener('abort', abort)
  return () => signal.removeEventListener('abort', abort)
}
