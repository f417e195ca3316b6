import { hashOf } from '../graphql/auth/tokens.ts'

/** Wrong tokens of an address that cost it nothing. */
const FREE = 20
const FIRST_DELAY_MS = 100
const MAX_DELAY_MS = 60_000
/** An address that was quiet for so long begins anew. */
const FORGOTTEN_MS = 5 * 60_000
/** Addresses, and tokens of each sort, of which this is remembered. */
const KEPT = 10_000

interface Attempts {
  readonly failures: number
  readonly until: number
}

/**
 * Slows down an address that tries tokens: each wrong one doubles the time in which further unknown ones are not looked at.
 * One broken program does not stop its neighbours: tokens that were right before are not delayed, and a wrong one that comes
 * again is no further guess.
 */
export class WrongTokens {
  readonly #attempts = new Map<string, Attempts>()
  readonly #right = new Set<string>()
  readonly #wrong = new Set<string>()

  /** Milliseconds to wait before the token is looked at; 0: none. */
  delayOf(secret: string, address: string, now = performance.now()): number {
    const left = Math.ceil((this.#attempts.get(address)?.until ?? 0) - now)
    return left > 0 && !this.#right.has(keyOf(secret)) ? left : 0
  }

  wasRight(secret: string): void {
    remember(this.#right, keyOf(secret))
  }

  wasWrong(secret: string, address: string, now = performance.now()): void {
    const key = keyOf(secret)
    this.#right.delete(key)
    if (this.#wrong.has(key)) return
    remember(this.#wrong, key)
    const before = this.#attempts.get(address)
    const failures = 1 + (before && now - before.until < FORGOTTEN_MS ? before.failures : 0)
    const delay = failures <= FREE ? 0 : Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** (failures - FREE - 1))
    this.#attempts.delete(address)
    if (this.#attempts.size >= KEPT) this.#attempts.delete(this.#attempts.keys().next().value ?? '')
    this.#attempts.set(address, { failures, until: now + delay })
  }
}

function remember(keys: Set<string>, key: string): void {
  if (keys.has(key)) return
  if (keys.size >= KEPT) keys.clear()
  keys.add(key)
}

const keyOf = (secret: string): string => hashOf(secret).toString('base64')
