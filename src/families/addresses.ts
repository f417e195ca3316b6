import { lookup } from 'node:dns'
import { BlockList, isIP, type LookupFunction } from 'node:net'

/** Networks that are no part of the public internet: a rule must not reach what only this server can. */
const PRIVATE = [
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.0.0.0/24'],
  ...['192.0.2.0/24', '192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24'],
  ...['224.0.0.0/4', '240.0.0.0/4'],
  ...['::/96', '64:ff9b::/96', '64:ff9b:1::/48', '100::/64', '2001::/23', '2001:db8::/32', '2002::/16', 'fc00::/7'],
  ...['fe80::/10', 'fec0::/10', 'ff00::/8'],
]

export class PrivateAddress extends Error {
  constructor(host: string) {
    super(`${host} is an address of a private network, which PHASELINE_NOTIFICATION_NETWORKS does not name`)
    this.name = 'PrivateAddress'
  }
}

/** Judges the addresses of receivers. */
export class Addresses {
  readonly #private = listOf(PRIVATE)
  readonly #allowed: BlockList

  /** @param allowed private networks that rules may reach, such as 10.0.0.0/8 */
  constructor(allowed: readonly string[]) {
    this.#allowed = listOf(allowed)
  }

  isAllowed(address: string): boolean {
    const family = familyOf(address)
    return !this.#private.check(address, family) || this.#allowed.check(address, family)
  }

  /** Names are looked up with this at each connection, since what they lead to may change after it was judged. */
  readonly lookup: LookupFunction = (host, options, done) => {
    lookup(host, { ...options, all: true }, (error, found) => {
      if (error) return done(error, '', 0)
      const allowed = found.filter(({ address }) => this.isAllowed(address))
      const [first] = allowed
      if (!first) return done(new PrivateAddress(host), '', 0)
      if (options.all) done(null, allowed)
      else done(null, first.address, first.family)
    })
  }

  /** An address that is written as such is not looked up. */
  requireAllowed(host: string): void {
    const address = host.replace(/^\[(.*)\]$/, '$1')
    if (isIP(address) !== 0 && !this.isAllowed(address)) throw new PrivateAddress(address)
  }
}

function listOf(networks: readonly string[]): BlockList {
  const list = new BlockList()
  for (const network of networks) {
    const [address = '', prefix] = network.split('/')
    const family = familyOf(address)
    list.addSubnet(address, prefix === undefined ? BITS[family] : Number(prefix), family)
  }
  return list
}
const BITS = { ipv4: 32, ipv6: 128 } as const
const familyOf = (address: string): keyof typeof BITS => (isIP(address) === 6 ? 'ipv6' : 'ipv4')
