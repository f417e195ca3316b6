import { RoundRobin } from '../../core/round-robin.ts'
import type { Account } from './accounts.ts'

/** Milliseconds of each turn of the event loop for callers' work, before sockets are polled again. */
const SLICE_MS = 1
/** The same while somebody rests: others wait for as much in each turn of the event loop. */
const SHARED_SLICE_MS = 0.1
/** Pieces of work that may be begun in the meantime. */
const MAX_BEGUN = 8
/** Milliseconds for which a caller is active after it has asked for a turn. */
const ACTIVE_MS = 20
/** The part of the time that one caller may take while others are active. */
const SHARE = 0.15
/** Milliseconds that it may be ahead of its share. */
const AHEAD_MS = 10
/** Milliseconds that count at most, so that one long piece is not paid for with seconds. */
const MAX_AHEAD_MS = 20
/** A piece that delays nobody to speak of. */
const SHORT_MS = 1
/** Delay before callers ahead of their shares are checked again, if nobody else waits. */
const PAUSE_MS = 1

/** A principal, or all callers at an address without a token together. */
type Caller = Pick<Account, 'isModest'>
/** Time that a caller has taken beyond its share, as it stood at a moment. */
interface Taken {
  readonly ms: number
  readonly at: number
  /** Duration of its last piece. */
  readonly lastMs: number
}

/**
 * Shares the event loop between callers by round robin: each caller that waits begins one piece of its work per turn, so a
 * caller with much work does not delay one with little. While others are active, a caller that has taken more than its share of the
 * time rests, if its pieces are long or it is not modest, and leaves the loop free for theirs. While no caller waits, work begins at once.
 */
export class FairTurns {
  readonly #waiting = new RoundRobin<Caller>()
  readonly #taken = new WeakMap<Caller, Taken>()
  /** The piece that runs. */
  #piece: { readonly caller: Caller; readonly since: number } | null = null
  /** The caller that has asked last, and when another one has. */
  #latest: Caller | null = null
  #latestAt = Number.NEGATIVE_INFINITY
  #otherAt = Number.NEGATIVE_INFINITY
  #sliceEnds = 0
  /** At once, in this slice. */
  #begun = 0
  #isScheduled = false

  /** Resolves when it is the caller's turn, for one piece of its work. Undefined: it is at once. */
  next(caller: Caller): Promise<void> | undefined {
    const now = this.#endPiece()
    this.#note(caller, now)
    if (!this.#isScheduled) this.#schedule(now)
    if (this.#begun < MAX_BEGUN && now < this.#sliceEnds && !this.#mayBegin(now) && !this.#mustRest(caller, now)) {
      this.#begun += 1
      this.#beginPiece(caller, now)
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
    this.#sliceEnds = now + (this.#waiting.find((caller) => this.#mustRest(caller, now)) ? SHARED_SLICE_MS : SLICE_MS)
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

  /** All waiting callers are ahead of their shares. */
  #scheduleLater(): void {
    setTimeout(() => {
      if (!this.#isScheduled) this.#schedule(performance.now())
    }, PAUSE_MS)
  }

  #beginOne(): void {
    const now = this.#endPiece()
    if (now >= this.#sliceEnds) return
    const caller = this.#waiting.next((waiting) => !this.#mustRest(waiting, now))
    if (caller) this.#beginPiece(caller, now)
  }

  /** It ends when nothing of it is left to run at once: a tick comes after all microtasks. */
  #beginPiece(caller: Caller, now: number): void {
    const piece = { caller, since: now }
    this.#piece = piece
    queueMicrotask(() => process.nextTick(() => this.#piece === piece && this.#endPiece()))
  }

  /** Returns the time. */
  #endPiece(): number {
    const now = performance.now()
    if (!this.#piece) return now
    const { caller, since } = this.#piece
    const ms = this.#ahead(caller, since) + (now - since) * (1 - SHARE)
    this.#taken.set(caller, { ms: Math.min(MAX_AHEAD_MS, ms), at: now, lastMs: now - since })
    this.#piece = null
    return now
  }

  #ahead(caller: Caller, now: number): number {
    const taken = this.#taken.get(caller)
    return taken ? Math.max(0, taken.ms - (now - taken.at) * SHARE) : 0
  }

  /** One that waits and need not rest. */
  #mayBegin(now: number): Caller | undefined {
    return this.#waiting.find((caller) => !this.#mustRest(caller, now))
  }

  /** A caller that uses little at a time, in short pieces, need not rest: it delays others only briefly. */
  #mustRest(caller: Caller, now: number): boolean {
    const taken = this.#taken.get(caller)
    if (!taken || !this.#isActiveBeside(caller, now)) return false
    if (caller.isModest && taken.lastMs < SHORT_MS) return false
    return this.#ahead(caller, now) > AHEAD_MS
  }

  #note(caller: Caller, now: number): void {
    if (caller !== this.#latest) {
      this.#otherAt = this.#latestAt
      this.#latest = caller
    }
    this.#latestAt = now
  }

  /** Another caller has asked for a turn lately. */
  #isActiveBeside(caller: Caller | null, now: number): boolean {
    return now - (caller === this.#latest ? this.#otherAt : this.#latestAt) < ACTIVE_MS
  }
}
