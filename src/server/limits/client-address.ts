import type { IncomingMessage } from 'node:http'
import { BlockList, isIP } from 'node:net'
import { addressGroup } from '../../core/address-group.ts'

/** The group of addresses that a request comes from. */
export type AddressOf = (request: IncomingMessage) => string

/**
 * A client's own entries in X-Forwarded-For prove nothing, so only those of declared proxies count: from the last one
 * on, each names its caller.
 * @param proxies addresses, or networks such as 10.0.0.0/8
 */
export function createAddressOf(proxies: readonly string[]): AddressOf {
  const trusted = new BlockList()
  for (const proxy of proxies) {
    const [network = '', prefix] = proxy.split('/')
    const family = familyOf(network)
    trusted.addSubnet(network, prefix === undefined ? BITS[family] : Number(prefix), family)
  }
  const isTrusted = (address: string): boolean => isIP(address) !== 0 && trusted.check(address, familyOf(address))
  return ({ socket, headers }) => {
    let address = socket.remoteAddress ?? ''
    if (proxies.length === 0) return addressGroup(address)
    const forwarded = String(headers['x-forwarded-for'] ?? '').split(',')
    while (isTrusted(address)) {
      const caller = forwarded.pop()?.trim()
      if (caller === undefined || isIP(caller) === 0) break
      address = caller
    }
    return addressGroup(address)
  }
}

const BITS = { ipv4: 32, ipv6: 128 } as const
const familyOf = (address: string): keyof typeof BITS => (isIP(address) === 6 ? 'ipv6' : 'ipv4')
