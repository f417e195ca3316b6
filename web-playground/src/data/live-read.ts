import { ClientError, type PhaseChange } from 'phaseline/client'
import type { Feed } from './feed.ts'

export interface LiveRead {
  /** Reads everything; called again when the log cannot be continued. */
  read(signal: AbortSignal): Promise<void>
  /** Applies changes: also those that arrived during the read, which it may know already. */
  apply(changes: readonly PhaseChange[]): void
  failed(error: unknown): void
}

const AGAIN_MS = 2_000

/** Reads once, then follows the feed without a gap. Ends when the signal aborts. */
export function readLive(feed: Feed, view: LiveRead, signal: AbortSignal): void {
  let held: PhaseChange[] | null = []
  let reading = new AbortController()

  const start = async (): Promise<void> => {
    reading.abort()
    const mine = new AbortController()
    reading = mine
    held = []
    for (let again = true; again && !signal.aborted && !mine.signal.aborted; ) {
      try {
        await view.read(AbortSignal.any([signal, mine.signal]))
        again = false
      } catch (error) {
        if (signal.aborted || mine.signal.aborted) return
        view.failed(error)
        again = isRetryable(error)
        if (!again) return
        await new Promise((resolve) => setTimeout(resolve, AGAIN_MS))
      }
    }
    if (signal.aborted || mine.signal.aborted) return
    const missed = held
    held = null
    if (missed.length > 0) view.apply(missed)
  }
  const stop = feed.listen({
    changes: (changes) => (held ? held.push(...changes) : view.apply(changes)),
    reset: () => void start(),
  })
  signal.addEventListener('abort', stop, { once: true })
  void start()
}

export const isRetryable = (error: unknown): boolean => error instanceof ClientError && error.retryable
/** For people, whom the words of a browser for a lost network tell little. */
export function messageOf(error: unknown): string {
  if (error instanceof ClientError && error.kind === 'network') return `The server does not answer (${error.message}).`
  return error instanceof Error ? error.message : String(error)
}
