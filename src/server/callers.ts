import type { GatewayLimits } from '../core/gateway-limits.ts'
import type { Viewer } from '../core/ports/viewer.ts'
import {
  type Account,
  Accounts,
  type Excess,
  limitsOfAddresses,
  limitsOfPrincipals,
  type Resource,
} from './accounts.ts'
import { type AddressOf, createAddressOf } from './client-address.ts'

/** Bounds what one caller may cost: as a principal, whatever its tokens and addresses, and as an address, whoever it is. */
export class Callers {
  readonly #principals: Accounts
  readonly #addresses: Accounts
  readonly addressOf: AddressOf

  constructor(limits: GatewayLimits, trustedProxies: readonly string[] = []) {
    this.#principals = new Accounts('principal', limitsOfPrincipals(limits))
    this.#addresses = new Accounts('address', limitsOfAddresses(limits))
    this.addressOf = createAddressOf(trustedProxies)
  }

  at(address: string): Account {
    return this.#addresses.of(address)
  }

  as({ principalId }: Viewer, address: Account): Caller {
    return new Caller(this.#principals.of(principalId), address)
  }
}

/** Bytes that cost as much as one more request. */
const BYTES_OF_A_REQUEST = 16 * 1_024
/** Counts further bytes. */
export type Meter = (bytes: number) => void

/** A principal at an address. */
export class Caller {
  readonly principal: Account
  readonly address: Account
  readonly #accounts: readonly Account[]

  constructor(principal: Account, address: Account) {
    this.principal = principal
    this.address = address
    this.#accounts = [principal, address]
  }

  /** Counts a large request, or a large answer, as several requests while its bytes come or go. */
  meter(): Meter {
    let bytes = 0
    let charged = 0
    return (more) => {
      bytes += more
      const requests = Math.floor(bytes / BYTES_OF_A_REQUEST)
      if (requests === charged) return
      for (const account of this.#accounts) account.charge(requests - charged)
      charged = requests
    }
  }

  hold(resource: Resource): Hold {
    return new Hold(this.#accounts, resource)
  }
}

/** What one request or connection holds of a resource. */
export class Hold {
  readonly #accounts: readonly Account[]
  readonly #resource: Resource
  #held = 0

  constructor(accounts: readonly Account[], resource: Resource) {
    this.#accounts = accounts
    this.#resource = resource
  }

  /** Takes more; the excess, if that would be too much. */
  take(more = 1): Excess | null {
    for (const account of this.#accounts) {
      const excess = account.excess(this.#resource, more)
      if (excess) return excess
    }
    this.#add(more)
    return null
  }

  /** Gives everything back. */
  end(): void {
    this.#add(-this.#held)
  }

  #add(change: number): void {
    for (const account of this.#accounts) account.add(this.#resource, change)
    this.#held += change
  }
}
