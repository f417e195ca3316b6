import { RoundRobin } from '../../core/round-robin.ts'
import type { Account } from './accounts.ts'

/** Milliseconds of each turn of the event loop for callers' work, before sockets are polled again. */
const SLICE_MS = 1
/** The same while somebody rests: others wait for as much in each turn of the event loop. */
const SHARED_SLICE_MS = 0.1
/** Pieces of work that may be begun in the meantime. */
const MAX_BEGUN = 8
/** Milliseconds for which work is in a hurry after it has asked for a turn: a claim that waits for longer is not. */
const HURRY_MS = 20
/** Milliseconds for which the next request of who has had an answer is expected: a piece that began in between would delay it. */
const GAP_MS = 2
/** The part of the time that a share may take while work of another one is in a hurry. */
const PART = 0.15
/** Milliseconds that it may be ahead of its share. */
const AHEAD_MS = 10
/** Milliseconds that count at most, so that one long piece is not paid for with seconds. */
const MAX_AHEAD_MS = 20
/** A piece that delays nobody to speak of. */
const SHORT_MS = 1
/** Delay before callers ahead of their shares are checked again, if nobody else waits. */
const PAUSE_MS = 1

/** A principal, or all callers at an address without a token together. */
export interface TurnTaker extends Pick<Account, 'isModest'> {
  /** Shares the time with others: the principal itself, or all whose rights are those of one project. */
  readonly share: Share
}
export type Share = Pick<Account, 'isModest' | 'isWorking' | 'answeredAt'>
/** Time that a share has taken beyond its part, as it stood at a moment. */
interface Taken {
  readonly ms: number
  readonly at: number
  /** The time of its last piece. */
  readonly lastMs: number
}

/**
 * Shares the event loop by round robin, first between shares, then between the callers of each: who waits begins one piece of its work per
 * turn, so that much work does not delay little. While another share works on what has begun lately, and has not taken its part, one that
 * has taken more than its own rests, if its pieces are long or it is not modest, and leaves the loop free. While nobody waits, work begins
 * at once.
 */
export class FairTurns {
  readonly #waiting = new RoundRobin<TurnTaker>(({ share }) => share)
  readonly #taken = new WeakMap<Share, Taken>()
  /** The piece that runs. */
  #piece: { readonly share: Share; readonly since: number } | null = null
  /** When each share has asked last, those that have asked lately. The last comes last. */
  readonly #asked = new Map<Share, number>()
  #sliceEnds = 0
  /** At once, in this slice. */
  #begun = 0
  #isScheduled = false

  /** Resolves when it is the caller's turn, for one piece of its work. Undefined: it is at once. */
  next(caller: TurnTaker): Promise<void> | undefined {
    const now = this.#endPiece()
    this.#note(caller.share, now)
    if (!this.#isScheduled) this.#schedule(now)
    if (this.#begun < MAX_BEGUN && now < this.#sliceEnds && !this.#mayBegin(now) && !this.#mustRest(caller, now)) {
      this.#begun += 1
      this.#beginPiece(caller)
      return undefined
    }
    return this.#waiting.wait(caller)
  }

  /** Ends the piece that runs before all of it has run: the rest is for others as well. */
  endPiece(): void {
    this.#endPiece()
  }

  /** Each piece has an immediate of its own, since what it awaits runs only after that. */
  #schedule(now: number): void {
    this.#isScheduled = true
    this.#sliceEnds = now + (this.#waiting.find((waiting) => this.#mustRest(waiting, now)) ? SHARED_SLICE_MS : SLICE_MS)
    this.#begun = 0
    setImmediate(() => {
      const then = this.#endPiece()
      this.#isScheduled = false
      if (this.#waiting.isEmpty) return
      if (!this.#mayBegin(then)) return this.#scheduleLater()
      // Before the first piece, so that the immediates of a slice follow each other.
      this.#schedule(then)
      this.#beginOne()
    })
    if (this.#waiting.isEmpty) return
    for (let i = 1; i < MAX_BEGUN; i++) setImmediate(() => this.#beginOne())
  }

  /** All that wait have to rest. */
  #scheduleLater(): void {
    setTimeout(() => {
      if (!this.#isScheduled) this.#schedule(performance.now())
    }, PAUSE_MS)
  }

  #beginOne(): void {
    const now = this.#endPiece()
    if (now >= this.#sliceEnds) return
    const caller = this.#waiting.next((waiting) => !this.#mustRest(waiting, now))
    if (caller) this.#beginPiece(caller)
  }

  /** It ends when nothing of it is left to run at once: a tick comes after all microtasks. */
  #beginPiece({ share }: TurnTaker): void {
    const piece = { share, since: performance.now() }
    this.#piece = piece
    queueMicrotask(() => process.nextTick(() => this.#piece === piece && this.#endPiece()))
  }

  /** Returns the time. */
  #endPiece(): number {
    const now = performance.now()
    if (!this.#piece) return now
    const { share, since } = this.#piece
    const lastMs = now - since
    const ms = this.#ahead(share, now) + lastMs
    this.#taken.set(share, { ms: Math.min(MAX_AHEAD_MS, ms), at: now, lastMs })
    this.#piece = null
    return now
  }

  #ahead(share: Share, now: number): number {
    const taken = this.#taken.get(share)
    return taken ? Math.max(0, taken.ms - (now - taken.at) * PART) : 0
  }

  /** One that waits and need not rest. */
  #mayBegin(now: number): TurnTaker | undefined {
    return this.#waiting.find((waiting) => !this.#mustRest(waiting, now))
  }

  /** A caller of short pieces need not rest while it, and its share as a whole, use little at a time: it delays others only briefly. */
  #mustRest({ isModest, share }: TurnTaker, now: number): boolean {
    const taken = this.#taken.get(share)
    if (!taken || this.#ahead(share, now) <= AHEAD_MS) return false
    if (isModest && share.isModest && taken.lastMs < SHORT_MS) return false
    return this.#isInTheWayOf(share, now)
  }

  #note(share: Share, now: number): void {
    this.#asked.delete(share)
    this.#asked.set(share, now)
    for (const [first, at] of this.#asked) {
      if (now - at < HURRY_MS) return
      this.#asked.delete(first)
    }
  }

  /** Another one works on what has begun lately, or has just done so, and has not taken its part: it would be served sooner. */
  #isInTheWayOf(share: Share, now: number): boolean {
    for (const [other, at] of this.#asked) {
      if (other === share || now - at >= HURRY_MS || this.#ahead(other, now) > AHEAD_MS) continue
      if (other.isWorking || now - other.answeredAt < GAP_MS) return true
    }
    return false
  }
}
