import type { AuditEntry } from '../core/audit.ts'
import { keyOf } from './entry-key.ts'

/** Equal entries of this many milliseconds are at most one event, besides the first. */
const WINDOW_MS = 60_000
/** Entries that are known at a time. Beyond, each is passed on, and is bounded there. */
const MAX_KNOWN = 2_000
const SWEEP_MS = 5_000

interface Window {
  readonly entry: AuditEntry
  readonly endsAt: number
  /** Equal ones that came since it was noted. */
  count: number
}

/**
 * Notes what programs do again and again, such as connecting and reading: the first at once, equal ones of the minute after
 * it together at its end.
 */
export class SeldomNotes implements Disposable {
  readonly #note: (entry: AuditEntry) => void
  /** In the order of their ends, since all are of the same length. */
  readonly #windows = new Map<string, Window>()
  #timer: NodeJS.Timeout | null = null

  constructor(note: (entry: AuditEntry) => void) {
    this.#note = note
  }

  /** Cheap, never throws. */
  note(entry: AuditEntry): void {
    const key = keyOf(entry)
    const window = this.#windows.get(key)
    if (window) window.count += entry.count
    else this.#open(key, entry)
  }

  /** Notes what waits for the end of its minute. */
  [Symbol.dispose](): void {
    this.#closeUntil(Number.POSITIVE_INFINITY)
  }

  #open(key: string, entry: AuditEntry): void {
    this.#note(entry)
    if (this.#windows.size >= MAX_KNOWN) return
    this.#windows.set(key, { entry, endsAt: performance.now() + WINDOW_MS, count: 0 })
    this.#timer ??= setInterval(() => this.#closeUntil(performance.now()), SWEEP_MS)
  }

  #closeUntil(now: number): void {
    for (const [key, { entry, endsAt, count }] of this.#windows) {
      if (endsAt > now) break
      this.#windows.delete(key)
      if (count === 0) continue
      // A new minute begins with it.
      if (Number.isFinite(now)) this.#open(key, { ...entry, count })
      else this.#note({ ...entry, count })
    }
    if (this.#windows.size > 0 || !this.#timer) return
    clearInterval(this.#timer)
    this.#timer = null
  }
}
