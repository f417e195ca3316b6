import { hashOf } from '../graphql/auth/tokens.ts'

/** Wrong tokens of an address that cost it nothing. */
const FREE = 20
const FIRST_DELAY_MS = 100
const MAX_DELAY_MS = 60_000
/** An address that was quiet for so long begins anew. */
const FORGOTTEN_MS = 5 * 60_000
/** Addresses, and tokens that were right, of which this is remembered. */
const KEPT = 10_000

interface Attempts {
  readonly failures: number
  readonly until: number
}

/**
 * Slows down an address that tries tokens: each wrong one doubles the time in which further unknown ones are not looked at.
 * Tokens that were right before are not delayed, so that one broken program does not stop its neighbours.
 */
export class WrongTokens {
  readonly #attempts = new Map<string, Attempts>()
  readonly #right = new Set<string>()

  /** Milliseconds to wait before the token is looked at; 0: none. */
  delayOf(secret: string, address: string, now = performance.now()): number {
    const left = Math.ceil((this.#attempts.get(address)?.until ?? 0) - now)
    return left > 0 && !this.#right.has(keyOf(secret)) ? left : 0
  }

  wasRight(secret: string): void {
    const key = keyOf(secret)
    if (this.#right.has(key)) return
    if (this.#right.size >= KEPT) this.#right.clear()
    this.#right.add(key)
  }

  wasWrong(secret: string, address: string, now = performance.now()): void {
    this.#right.delete(keyOf(secret))
    const before = this.#attempts.get(address)
    const failures = 1 + (before && now - before.until < FORGOTTEN_MS ? before.failures : 0)
    const delay = failures <= FREE ? 0 : Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** (failures - FREE - 1))
    this.#attempts.delete(address)
    if (this.#attempts.size >= KEPT) this.#attempts.delete(this.#attempts.keys().next().value ?? '')
    this.#attempts.set(address, { failures, until: now + delay })
  }
}

const keyOf = (secret: string): string => hashOf(secret).toString('base64')
