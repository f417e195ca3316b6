import { retryDelay } from '../pause.ts'
import type { AgentApi, LeaseState } from './agent-api.ts'
import { ageOf, type Instant, instant } from './instant.ts'

export interface LeasesOptions {
  readonly api: Pick<AgentApi, 'renew'>
  readonly leaseMs: number
  /** How often they are renewed, and abort requests heard of. */
  readonly renewMs: number
  /** False: a lease is lost when the server says so, and not by the clock. */
  readonly expire: boolean
  /** Something other than HELD was heard of a lease; after LOST it is kept no more. */
  onState(fence: string, state: Exclude<LeaseState, 'HELD'>): void
  onProblem(error: Error): void
}

const MAX_FENCES = 1_000

/** They are judged by the clock so often, in milliseconds: well within what they count as lost before their end. */
const WATCH_MS = 1_000
/** A wall clock that is ahead of the monotonic one by so much more, or less, than before was set. */
const SET_MS = 1_000

/**
 * Renews all leases in hand in time. A lease that expires counts as lost a little before its end, so that work
 * is stopped before somebody else can get it: when no renewal got through, and when this process did not run for long.
 * Whatever the wall clock shows costs no lease; but that it was set may be all that is to be seen of a virtual machine that
 * stood still, so the server is asked at once what is still held.
 */
export class Leases {
  readonly #options: LeasesOptions
  readonly #held = new Map<string, Instant>()
  /** A lease is good for so long after it was asked for. */
  readonly #goodMs: number
  #timer: NodeJS.Timeout | undefined
  readonly #watch: NodeJS.Timeout
  #wallAheadMs = wallAheadMs()
  #renewing = false
  #isUnsure = false
  #failures = 0
  #closed = false

  constructor(options: LeasesOptions) {
    this.#options = options
    this.#goodMs = options.leaseMs - Math.min(2_000, options.leaseMs / 10)
    this.#watch = setInterval(() => this.#look(), Math.min(WATCH_MS, options.leaseMs / 15))
    this.#plan(options.renewMs)
  }

  /** False: it is over already, as when its answer was long in coming, and is not kept. */
  add(fence: string, askedAt: Instant): boolean {
    if (this.#isOver(askedAt, instant())) return false
    this.#held.set(fence, askedAt)
    return true
  }
  remove(fence: string): void {
    this.#held.delete(fence)
  }
  /** The last renewal got no answer. */
  get failing(): boolean {
    return this.#failures > 0
  }
  close(): void {
    this.#closed = true
    clearTimeout(this.#timer)
    clearInterval(this.#watch)
  }

  #plan(ms: number): void {
    if (!this.#closed) this.#timer = setTimeout(() => void this.#tick(), ms)
  }

  #look(): void {
    this.#dropExpired()
    const ahead = wallAheadMs()
    if (Math.abs(ahead - this.#wallAheadMs) < SET_MS) return
    this.#wallAheadMs = ahead
    this.#isUnsure = true
    if (this.#renewing) return
    clearTimeout(this.#timer)
    this.#plan(0)
  }

  async #tick(): Promise<void> {
    this.#dropExpired()
    const { leaseMs, renewMs } = this.#options
    const fences = this.#isUnsure ? [...this.#held.keys()] : this.#due()
    this.#isUnsure = false
    this.#renewing = true
    try {
      for (let start = 0; start < fences.length; start += MAX_FENCES) {
        await this.#renew(fences.slice(start, start + MAX_FENCES))
      }
      this.#failures = 0
      this.#plan(this.#isUnsure ? 0 : renewMs)
    } catch (error) {
      this.#options.onProblem(error instanceof Error ? error : new Error(String(error)))
      this.#plan(Math.min(leaseMs / 15, retryDelay(this.#failures)))
      this.#failures += 1
    } finally {
      this.#renewing = false
    }
  }

  /** Those that were claimed just now are most often done before the next time. */
  #due(): readonly string[] {
    const { monotonic } = instant()
    const young = this.#options.renewMs / 2
    return [...this.#held].flatMap(([fence, askedAt]) => (monotonic - askedAt.monotonic < young ? [] : [fence]))
  }

  async #renew(fences: readonly string[]): Promise<void> {
    const askedAt = instant()
    const states = await this.#options.api.renew(fences, this.#options.leaseMs)
    for (const [i, fence] of fences.entries()) {
      if (!this.#held.has(fence)) continue
      const state = states[i] ?? 'LOST'
      if (state === 'LOST') this.#held.delete(fence)
      else this.#held.set(fence, askedAt)
      if (state !== 'HELD') this.#options.onState(fence, state)
    }
  }

  #isOver(askedAt: Instant, now: Instant): boolean {
    return this.#options.expire && ageOf(askedAt, now) >= this.#goodMs
  }

  #dropExpired(): void {
    const now = instant()
    for (const [fence, askedAt] of this.#held) {
      if (!this.#isOver(askedAt, now)) continue
      // Deleting from a Map while it is walked is safe.
      this.#held.delete(fence)
      this.#options.onState(fence, 'LOST')
    }
  }
}

const wallAheadMs = (): number => Date.now() - performance.now()
