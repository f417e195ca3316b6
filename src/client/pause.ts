import { ClientError } from './client-error.ts'

/** Resolves after `ms`, or when the signal aborts. Never rejects. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve()
    const done = (): void => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', done)
      resolve()
    }
    // A time that has passed meanwhile: Node warns of a negative one.
    const timer = setTimeout(done, Math.max(0, ms))
    signal?.addEventListener('abort', done, { once: true })
  })
}

/**
 * Jittered exponential backoff in milliseconds: 50 to 100 before the first retry, at most 5 s; longer if the error says when
 * the server takes the call again.
 */
export function retryDelay(retries: number, error?: unknown): number {
  const ceiling = Math.min(5_000, 100 * 2 ** Math.min(retries, 10))
  const delay = ceiling * (0.5 + Math.random() / 2)
  const after = error instanceof ClientError ? error.retryAfterMs : null
  return after === null ? delay : after + delay
}
