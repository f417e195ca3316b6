import type { GatewayLimits } from '../../core/gateway-limits.ts'
import { OneAtATime } from '../../core/one-at-a-time.ts'
import { TokenBucket } from '../../core/token-bucket.ts'
import { DifferentSubscriptions } from './different-subscriptions.ts'
import { LiveReads } from './live-reads.ts'

/** Resources that a caller holds for a time. */
export type Resource = 'openOperations' | 'openSubscriptions' | 'openSockets' | 'requestBytes'

export interface AccountLimits extends Readonly<Record<Resource, number>> {
  readonly requestsPerSecond: number
}

export const limitsOfPrincipals = (limits: GatewayLimits): AccountLimits => ({
  requestsPerSecond: limits.requestsPerSecondPerPrincipal,
  openOperations: limits.openOperationsPerPrincipal,
  openSubscriptions: limits.openSubscriptionsPerPrincipal,
  openSockets: limits.openSocketsPerPrincipal,
  requestBytes: limits.requestBytesPerPrincipal,
})
/** Only the rate of authentic deliveries is bounded here: all else counts for their addresses. */
export const limitsOfHooks = (limits: GatewayLimits): AccountLimits => ({
  ...limitsOfPrincipals(limits),
  requestsPerSecond: limits.deliveriesPerSecondPerHook,
})
export const limitsOfAddresses = (limits: GatewayLimits): AccountLimits => ({
  requestsPerSecond: limits.requestsPerSecondPerAddress,
  openOperations: limits.openOperationsPerAddress,
  openSubscriptions: limits.openSubscriptionsPerAddress,
  openSockets: limits.openSocketsPerAddress,
  requestBytes: limits.requestBytesPerAddress,
})

/** For what is bounded by its parts, such as the principals of a project. */
export const UNLIMITED: AccountLimits = {
  requestsPerSecond: Number.POSITIVE_INFINITY,
  openOperations: Number.POSITIVE_INFINITY,
  openSubscriptions: Number.POSITIVE_INFINITY,
  openSockets: Number.POSITIVE_INFINITY,
  requestBytes: Number.POSITIVE_INFINITY,
}

/** Limits of a whole gateway. */
export const limitsOfInstance = ({ sockets }: GatewayLimits): AccountLimits => ({
  ...UNLIMITED,
  openSockets: sockets,
})
/**
 * Limits of each principal's reserve at an address, each resource by itself. The reserve suffices for a few programs,
 * so an address that others exhaust still serves the next principal.
 */
export const limitsOfShares = (limits: GatewayLimits): AccountLimits => {
  const { requestsPerSecond, ...held } = limitsOfAddresses(limits)
  const part = (limit: number): number => Math.max(1, Math.ceil(limit / SHARES))
  return {
    requestsPerSecond: part(requestsPerSecond),
    openOperations: part(held.openOperations),
    openSubscriptions: part(held.openSubscriptions),
    openSockets: part(Math.min(held.openSockets, limits.sockets)),
    requestBytes: part(held.requestBytes),
  }
}
const SHARES = 20

/** A refusal for now. */
export interface LimitExceeded {
  /** The owner of the exhausted share. */
  readonly share: string
  readonly code: 'RATE_LIMITED' | 'TOO_MANY'
  readonly message: string
  readonly retryAfterMs: number
}

/** When to ask again for what others have to give back first. */
const RETRY_MS = 1_000

const NAMES = {
  openOperations: 'operations at a time',
  openSubscriptions: 'subscriptions at a time',
  openSockets: 'WebSockets at a time',
  requestBytes: 'bytes of requests at a time',
} as const satisfies Readonly<Record<Resource, string>>

const MODEST_OPERATIONS = 8
const MODEST_BYTES = 1_024 * 1_024
const MODEST_SUBSCRIPTIONS = 32

/** The use of a gateway by one principal or one address, or by all principals of one project. */
export class Account {
  /** Its project's account, which shares the event loop with others: many principals of one project have no more of it than one. */
  project: Account | null = null
  /** Live ones, which cost something with each event. */
  readonly subscriptions = new DifferentSubscriptions()
  readonly reads: LiveReads
  readonly #executions = new OneAtATime()
  /** Events of subscriptions that are executed. */
  #executing = 0
  /** When its last operation was answered, or its last event was sent, by the monotonic clock. */
  answeredAt = Number.NEGATIVE_INFINITY
  readonly #owner: string
  readonly #limits: AccountLimits
  readonly #bucket: TokenBucket
  readonly #inUse: Record<Resource, number> = {
    openOperations: 0,
    openSubscriptions: 0,
    openSockets: 0,
    requestBytes: 0,
  }

  /** @param key of the principal, whose reads it has */
  constructor(owner: string, limits: AccountLimits, key = '') {
    this.reads = new LiveReads(key)
    this.#owner = owner
    this.#limits = limits
    this.#bucket = new TokenBucket(limits.requestsPerSecond, performance.now())
  }

  /** It uses no more at a time than a busy agent does. */
  get isModest(): boolean {
    const { openOperations, requestBytes } = this.#inUse
    return (
      openOperations <= MODEST_OPERATIONS &&
      requestBytes <= MODEST_BYTES &&
      this.subscriptions.size <= MODEST_SUBSCRIPTIONS
    )
  }
  get share(): Account {
    return this.project ?? this
  }
  /** An operation of it is not answered yet, or an event not sent. */
  get isWorking(): boolean {
    return this.#inUse.openOperations > 0 || this.#executing > 0
  }
  get isIdle(): boolean {
    return Object.values(this.#inUse).every((count) => count === 0)
  }

  /** Executes events, one piece of work at a time: half of the results of many subscriptions would fill the memory. */
  execute<T>(work: () => Promise<T>): Promise<T> {
    const { share } = this
    return this.#executions.run(async () => {
      share.#executing += 1
      try {
        return await work()
      } finally {
        share.#executing -= 1
        share.answeredAt = performance.now()
      }
    })
  }

  /** Counts a request; the excess, if there were too many lately. */
  request(): LimitExceeded | null {
    const retryAfterMs = this.#bucket.take(performance.now())
    if (retryAfterMs === 0) return null
    const message = `One ${this.#owner} has ${this.#limits.requestsPerSecond} requests a second: try again in ${retryAfterMs} ms.`
    return { share: this.#owner, code: 'RATE_LIMITED', message, retryAfterMs }
  }

  /** Counts as further requests what a request turns out to cost. */
  charge(requests: number): void {
    this.#bucket.charge(requests)
  }

  /** The excess, if so much more would be too much. */
  excess(resource: Resource, more: number): LimitExceeded | null {
    const limit = this.#limits[resource]
    if (this.#inUse[resource] + more <= limit) return null
    const message = `One ${this.#owner} has at most ${limit} ${NAMES[resource]}: end some, or try again later.`
    return { share: this.#owner, code: 'TOO_MANY', message, retryAfterMs: RETRY_MS }
  }

  /** Opens a live subscription that follows something; the excess, if there are too many different ones of the same. */
  follow(place: string, key: string, limit: number): LimitExceeded | null {
    if (this.subscriptions.open(place, key, limit)) return null
    const message = `One ${this.#owner} has at most ${limit} different subscriptions to the same tree, object or project, or to more than one of these: send the same document and variables to share one, or end some.`
    return { share: this.#owner, code: 'TOO_MANY', message, retryAfterMs: RETRY_MS }
  }

  add(resource: Resource, change: number): void {
    this.#inUse[resource] += change
    if (resource === 'openOperations' && change < 0) this.answeredAt = performance.now()
  }
}

/** Accounts that are kept although nothing of them is in use. */
const KEPT = 10_000

/** The accounts of all principals, or of all addresses; the one that is idle for longest is forgotten first. */
export class Accounts {
  readonly #owner: string
  readonly #limits: AccountLimits
  readonly #accounts = new Map<string, Account>()

  constructor(owner: string, limits: AccountLimits) {
    this.#owner = owner
    this.#limits = limits
  }

  get size(): number {
    return this.#accounts.size
  }

  of(key: string): Account {
    const account = this.#accounts.get(key) ?? new Account(this.#owner, this.#limits, key)
    this.#accounts.delete(key)
    this.#accounts.set(key, account)
    if (this.#accounts.size > KEPT) this.#forgetOne()
    return account
  }

  #forgetOne(): void {
    const [oldest] = this.#accounts
    if (!oldest) return
    const [key, account] = oldest
    this.#accounts.delete(key)
    // Busy ones are as few as connections are.
    if (!account.isIdle) this.#accounts.set(key, account)
  }
}
