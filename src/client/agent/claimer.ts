import { asError } from '../as-error.ts'
import { pause, retryDelay } from '../pause.ts'
import type { AgentApi, ClaimRequest } from './agent-api.ts'
import { AutoResetEvent } from './auto-reset-event.ts'
import type { InFlight } from './in-flight.ts'
import { instant, later } from './instant.ts'
import type { Leases } from './leases.ts'

export interface ClaimerOptions {
  readonly api: Pick<AgentApi, 'claim'>
  readonly leases: Leases
  readonly inFlight: InFlight
  readonly request: Pick<ClaimRequest, 'instance' | 'types' | 'targets' | 'targetSelector' | 'dryRuns' | 'leaseMs'>
  /** Items worked on at the same time. */
  readonly concurrency: number
  /** Nothing is claimed while renewals fail. */
  readonly pinned: boolean
  readonly signal: AbortSignal
  /** The claim failed, or with `objectId` one of its items cannot be begun. */
  onProblem(error: Error, objectId?: string): void
}

export const MAX_CLAIM = 500
/** An agent with much concurrency has several claims open: while one answer travels, another claim gets new work. */
const MAX_CLAIMS = 8
/** Claiming pauses when more items than this are done but not yet reported. */
const MAX_UNREPORTED = 2_000
/** The server keeps a claim open for so long and answers it with work that becomes ready. */
const WAIT_MS = 15_000
/** Interval of claims that do not wait; offers also wake the agent. */
const POLL_MS = 5_000
const POLL_UNHEARD_MS = 1_000
const TOO_LATE = 'The lease expired before the answer to the claim arrived, so the item is not begun.'

/**
 * Keeps claims open while there is room for work. Each of its loops is in one of these states:
 *
 * - Claiming: a request is open, and what it may bring is counted in `#requested`, so that all loops together ask for no more than there is
 *   room for. An answer with items, or after a wait, leads to claiming again.
 * - Waiting for room, when there is none: is in `#waitingForRoom`. Ended work, or a poll, leads to claiming.
 * - Waiting for offers, when an empty answer came at once: an offer or a poll leads to claiming.
 * - Pausing, after a failed claim, for longer each time; or while renewals fail, if the agent is pinned. Time leads to claiming.
 *
 * Only claiming holds anything at the server. The signal ends each state.
 */
export class Claimer {
  readonly #options: ClaimerOptions
  /** One for each claim that is open at a time. */
  readonly #wakeUps: readonly AutoResetEvent[]
  /** Claims that wait for room, not for offers. */
  readonly #waitingForRoom = new Set<AutoResetEvent>()
  readonly #needsOffers = Promise.withResolvers<boolean>()
  /** Items that open claims may bring. */
  #requested = 0
  #isListening = false

  constructor(options: ClaimerOptions) {
    this.#options = options
    const claims = Math.max(1, Math.min(MAX_CLAIMS, Math.floor(options.concurrency / MAX_CLAIM)))
    this.#wakeUps = Array.from({ length: claims }, () => new AutoResetEvent())
  }

  /** Claims until the signal aborts. */
  async run(): Promise<void> {
    await Promise.all(this.#wakeUps.map((wakeUp) => this.#loop(wakeUp)))
    this.#needsOffers.resolve(false)
  }

  /** Resolves to true if this server answers claims at once, so that only offers announce new work. */
  get needsOffers(): Promise<boolean> {
    return this.#needsOffers.promise
  }
  set isListening(isListening: boolean) {
    this.#isListening = isListening
    if (isListening) this.wakeAll()
  }

  wakeAll(): void {
    for (const wakeUp of this.#wakeUps) wakeUp.set()
  }
  wakeForRoom(): void {
    for (const wakeUp of this.#waitingForRoom) wakeUp.set()
  }

  async #loop(wakeUp: AutoResetEvent): Promise<void> {
    const { signal, pinned, leases } = this.#options
    for (let failures = 0; !signal.aborted; ) {
      // Work that ends at once does so in this turn, and makes room for a whole claim.
      await nextTurn()
      const max = this.#room()
      if (max <= 0) {
        await this.#waitForRoom(wakeUp)
      } else if (pinned && leases.failing) {
        // An expired lease returns with the next renewal; claimed anew, its work would move to a new fence for nothing.
        await pause(retryDelay(0), signal)
      } else {
        const error = await this.#claimAndWait(max, wakeUp)
        if (error) await pause(retryDelay(failures, error), signal)
        failures = error ? failures + 1 : 0
      }
    }
  }

  async #waitForRoom(wakeUp: AutoResetEvent): Promise<void> {
    this.#waitingForRoom.add(wakeUp)
    await wakeUp.wait(POLL_MS, this.#options.signal)
    this.#waitingForRoom.delete(wakeUp)
  }

  /** Resolves to why the claim failed, or null. */
  async #claimAndWait(max: number, wakeUp: AutoResetEvent): Promise<Error | null> {
    const since = performance.now()
    const claimed = await this.#claim(max)
    if (claimed instanceof Error) return claimed
    const hasWaited = claimed > 0 || performance.now() - since > WAIT_MS / 2
    if (hasWaited) return null
    // The server answered an empty claim at once: only offers announce new work.
    this.#needsOffers.resolve(true)
    const poll = this.#isListening ? POLL_MS : POLL_UNHEARD_MS
    await wakeUp.wait(poll * (0.75 + Math.random() / 2), this.#options.signal)
    return null
  }

  #room(): number {
    const { concurrency, inFlight } = this.#options
    const share = Math.ceil(concurrency / this.#wakeUps.length)
    const room = concurrency - inFlight.working - this.#requested
    return Math.min(MAX_CLAIM, share, room, MAX_UNREPORTED - inFlight.unreported)
  }

  /** The number of claimed items, or why the claim failed. */
  async #claim(max: number): Promise<number | Error> {
    const { api, request, leases, inFlight, signal, onProblem } = this.#options
    const sentAt = instant()
    this.#requested += max
    try {
      // Aborted with the agent: the server then releases the items that it claimed for it.
      const { items, waitedMs } = await api.claim({ ...request, max, waitMs: WAIT_MS }, signal)
      const leasedAt = later(sentAt, waitedMs)
      for (const item of items) {
        // Another agent may have the work by now: better not begun than stopped soon.
        if (leases.add(item.fence, leasedAt)) void inFlight.start(item)
        else onProblem(new Error(TOO_LATE), item.objectId)
      }
      return items.length
    } catch (thrown) {
      const error = asError(thrown)
      if (!signal.aborted) onProblem(error)
      return error
    } finally {
      this.#requested -= max
      this.wakeForRoom()
    }
  }
}

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
