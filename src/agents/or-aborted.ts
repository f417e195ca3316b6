export const ABORTED = Symbol('aborted')

/** The result of a promise, or `ABORTED` once the signal aborts. Others may wait for the promise as before. */
export async function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T | typeof ABORTED> {
  const aborted = Promise.withResolvers<typeof ABORTED>()
  const abort = (): void => aborted.resolve(ABORTED)
  signal.addEventListener('abort', abort, { once: true })
  if (signal.aborted) abort()
  try {
    return await Promise.race([aborted.promise, promise])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}
