import type { GatewayLimits } from '../../core/gateway-limits.ts'
import type { Viewer } from '../../core/ports/viewer.ts'
import { homeOf, readerOf } from '../../core/rights.ts'
import {
  Account,
  Accounts,
  type LimitExceeded,
  limitsOfAddresses,
  limitsOfHooks,
  limitsOfInstance,
  limitsOfPrincipals,
  limitsOfShares,
  type Resource,
  UNLIMITED,
} from './accounts.ts'
import { type Addresses, createAddresses } from './client-address.ts'

/**
 * Bounds the cost of one caller, both as a principal, whatever its tokens and addresses, and as an address, whoever it
 * is. When others exhaust an address, each principal there keeps its share.
 */
export class Callers {
  readonly #principals: Accounts
  readonly #projects: Accounts
  readonly #addresses: Accounts
  readonly #probes: Accounts
  readonly #hooks: Accounts
  readonly #senders: Accounts
  readonly #sharesOfSenders: Accounts
  /** Bytes of large bodies to hooks that are not authentic yet. */
  readonly unjudged: Account
  /** All that the gateway has. */
  readonly #instance: Account
  /** Accounts of principals at addresses. */
  readonly #shares: Accounts
  readonly addressOf: Addresses['of']
  readonly peerOf: Addresses['ofPeer']

  constructor(limits: GatewayLimits, trustedProxies: readonly string[] = []) {
    this.#instance = new Account('gateway', limitsOfInstance(limits))
    this.#principals = new Accounts('principal', limitsOfPrincipals(limits))
    this.#projects = new Accounts('project', UNLIMITED)
    this.#hooks = new Accounts('hook', limitsOfHooks(limits))
    this.#senders = new Accounts('sender to a hook', limitsOfPrincipals(limits))
    this.#sharesOfSenders = new Accounts('sender to a hook', limitsOfShares(limits))
    this.unjudged = new Account('gateway', {
      ...limitsOfInstance(limits),
      requestBytes: 2 * limits.requestBytesPerAddress,
    })
    this.#addresses = new Accounts('address', limitsOfAddresses(limits))
    this.#probes = new Accounts('address', limitsOfAddresses(limits))
    this.#shares = new Accounts('principal at an address', limitsOfShares(limits))
    const addresses = createAddresses(trustedProxies)
    this.addressOf = addresses.of
    this.peerOf = addresses.ofPeer
  }

  as({ principalId, grants }: Pick<Viewer, 'principalId' | 'grants'>, address: string): Caller {
    const share = this.#shares.of(`${principalId} ${address}`)
    const principal = this.#principals.of(principalId)
    const project = homeOf(grants)
    principal.project = project === null ? null : this.#projects.of(project)
    principal.reads.caller = readerOf({ principalId, grants })
    const used = { principal, address: this.#addresses.of(address), instance: this.#instance, share }
    return new Caller({ ...used, project: principal.project })
  }

  /** The senders at an address to one hook, which may not exist: those to another one have accounts of their own. */
  senderTo(hook: string, address: string): Caller {
    const key = `${hook} ${address}`
    const [principal, share] = [this.#senders.of(key), this.#sharesOfSenders.of(key)]
    return new Caller({
      principal,
      address: this.#addresses.of(address),
      instance: this.#instance,
      share,
      project: null,
    })
  }

  /** The account of a hook, for deliveries that are authentic. */
  hook(id: string): Account {
    return this.#hooks.of(id)
  }

  /** The account of requests for the health of this server, which waits for nothing else at its address. */
  probesAt(address: string): Account {
    return this.#probes.of(address)
  }

  /** The one account of all callers at an address without a known token. */
  strangersAt(address: string): Account {
    return this.#shares.of(address)
  }
}

/** Bytes that cost as much as one more request. */
const BYTES_OF_A_REQUEST = 16 * 1_024
/** Counts further bytes. */
export type Meter = (bytes: number) => void

interface CallerAccounts {
  readonly principal: Account
  readonly address: Account
  readonly instance: Account
  /** The account of the principal at the address. */
  readonly share: Account
  /** Null: the principal counts for itself. */
  readonly project: Account | null
}

/** A principal at an address. */
export class Caller {
  readonly #accounts: CallerAccounts

  constructor(accounts: CallerAccounts) {
    this.#accounts = accounts
  }

  get principal(): Account {
    return this.#accounts.principal
  }

  /** Counts a request; the excess, if there were too many lately. */
  request(): LimitExceeded | null {
    const { principal, address, share } = this.#accounts
    return principal.request() ?? unless(address.request(), () => share.request())
  }

  /** Counts as further requests what a request turns out to cost. */
  charge(requests: number): void {
    // Not the share, which would owe for hours what the principal has paid for already.
    const { principal, address } = this.#accounts
    for (const account of [principal, address]) account.charge(requests)
  }

  /** Counts a large request, or a large answer, as several requests while its bytes come or go. */
  meter(): Meter {
    let bytes = 0
    let charged = 0
    return (more) => {
      bytes += more
      const requests = Math.floor(bytes / BYTES_OF_A_REQUEST)
      if (requests === charged) return
      this.charge(requests - charged)
      charged = requests
    }
  }

  reserve(resource: Resource): Reservation {
    return new Reservation(this.#accounts, resource)
  }
}

/** A resource that one request or connection holds. */
export class Reservation {
  readonly #accounts: CallerAccounts
  readonly #resource: Resource
  #held = 0

  constructor(accounts: CallerAccounts, resource: Resource) {
    this.#accounts = accounts
    this.#resource = resource
  }

  /** Takes more; the excess, if that would be too much. */
  take(more = 1): LimitExceeded | null {
    const of = (account: Account): LimitExceeded | null => account.excess(this.#resource, more)
    const { principal, address, instance, share } = this.#accounts
    const excess = of(principal) ?? unless(of(address) ?? of(instance), () => of(share))
    if (!excess) this.#add(more)
    return excess
  }

  /** Gives everything back. */
  end(): void {
    this.#add(-this.#held)
  }

  #add(change: number): void {
    for (const account of Object.values(this.#accounts)) account?.add(this.#resource, change)
    this.#held += change
  }
}

/** The others' excess applies only to a caller that has used up its own share. */
const unless = (excess: LimitExceeded | null, ofShare: () => LimitExceeded | null): LimitExceeded | null =>
  excess && ofShare() ? excess : null
