import { asError } from '../as-error.ts'
import { retryDelay } from '../pause.ts'
import type { AgentApi, LeaseState } from './agent-api.ts'
import { ageOf, type Instant, instant } from './instant.ts'

export interface LeasesOptions {
  readonly api: Pick<AgentApi, 'renew'>
  readonly leaseMs: number
  /** Interval in which leases are renewed and abort requests noticed. */
  readonly renewMs: number
  /** False: a lease is lost once the server says so, not by the clock. */
  readonly expire: boolean
  /** Called with any state of a lease but HELD; after LOST it is removed. */
  onState(fence: string, state: Exclude<LeaseState, 'HELD'>): void
  onProblem(error: Error): void
}

const MAX_FENCES = 1_000

/** Interval in which leases are checked against the clock: well within their safety margin. */
const WATCH_MS = 1_000
/** When the difference between wall clock and monotonic clock changes by more, the wall clock was set. */
const SET_MS = 1_000

/**
 * Renews all held leases in time. A lease counts as lost a little before it expires, so that the work stops before another
 * agent can claim it: when no renewal got through, and when this process was suspended for long. The wall clock decides
 * nothing; but a virtual machine that was paused may show it by a jump of its wall clock only, so after a jump all leases
 * are renewed at once.
 */
export class Leases {
  readonly #options: LeasesOptions
  readonly #held = new Map<string, Instant>()
  /** A lease is valid for so long after its request was sent. */
  readonly #validMs: number
  #timer: NodeJS.Timeout | undefined
  readonly #watch: NodeJS.Timeout
  #wallAheadMs = wallAheadMs()
  #renewing = false
  #renewAll = false
  #failures = 0
  #closed = false

  constructor(options: LeasesOptions) {
    this.#options = options
    this.#validMs = options.leaseMs - Math.min(2_000, options.leaseMs / 10)
    this.#watch = setInterval(() => this.#checkClocks(), Math.min(WATCH_MS, options.leaseMs / 15))
    this.#schedule(options.renewMs)
  }

  /** False: the lease has expired already, because its answer took too long; it is not added. */
  add(fence: string, sentAt: Instant): boolean {
    if (this.#isExpired(sentAt, instant())) return false
    this.#held.set(fence, sentAt)
    return true
  }
  remove(fence: string): void {
    this.#held.delete(fence)
  }
  /** The last renewal failed. */
  get failing(): boolean {
    return this.#failures > 0
  }
  close(): void {
    this.#closed = true
    clearTimeout(this.#timer)
    clearInterval(this.#watch)
  }

  #schedule(ms: number): void {
    if (!this.#closed) this.#timer = setTimeout(() => void this.#tick(), ms)
  }

  #checkClocks(): void {
    this.#dropExpired()
    const ahead = wallAheadMs()
    if (Math.abs(ahead - this.#wallAheadMs) < SET_MS) return
    this.#wallAheadMs = ahead
    this.#renewAll = true
    if (this.#renewing) return
    clearTimeout(this.#timer)
    this.#schedule(0)
  }

  async #tick(): Promise<void> {
    this.#dropExpired()
    const { leaseMs, renewMs } = this.#options
    const fences = this.#renewAll ? [...this.#held.keys()] : this.#due()
    this.#renewAll = false
    this.#renewing = true
    try {
      for (let start = 0; start < fences.length; start += MAX_FENCES) {
        await this.#renew(fences.slice(start, start + MAX_FENCES))
      }
      this.#failures = 0
      this.#schedule(this.#renewAll ? 0 : renewMs)
    } catch (error) {
      this.#options.onProblem(asError(error))
      this.#schedule(Math.min(leaseMs / 15, retryDelay(this.#failures, error)))
      this.#failures += 1
    } finally {
      this.#renewing = false
    }
  }

  /** Skips young leases: most of their work is done before the next renewal. */
  #due(): readonly string[] {
    const { monotonic } = instant()
    const young = this.#options.renewMs / 2
    return [...this.#held].flatMap(([fence, sentAt]) => (monotonic - sentAt.monotonic < young ? [] : [fence]))
  }

  async #renew(fences: readonly string[]): Promise<void> {
    const sentAt = instant()
    const states = await this.#options.api.renew(fences, this.#options.leaseMs)
    for (const [i, fence] of fences.entries()) {
      if (!this.#held.has(fence)) continue
      const state = states[i] ?? 'LOST'
      if (state === 'LOST') this.#held.delete(fence)
      else this.#held.set(fence, sentAt)
      if (state !== 'HELD') this.#options.onState(fence, state)
    }
  }

  #isExpired(sentAt: Instant, now: Instant): boolean {
    return this.#options.expire && ageOf(sentAt, now) >= this.#validMs
  }

  #dropExpired(): void {
    const now = instant()
    for (const [fence, sentAt] of this.#held) {
      if (!this.#isExpired(sentAt, now)) continue
      // Deleting from a Map while it is walked is safe.
      this.#held.delete(fence)
      this.#options.onState(fence, 'LOST')
    }
  }
}

const wallAheadMs = (): number => Date.now() - performance.now()
