import type { IncomingMessage } from 'node:http'
import { BlockList, isIP, type Socket } from 'node:net'
import { addressGroup } from '../../core/address-group.ts'

/** The groups of addresses that callers come from. */
export interface Addresses {
  of(request: IncomingMessage): string
  /** The other end of a connection; null: a proxy, with the requests of many. */
  ofPeer(socket: Pick<Socket, 'remoteAddress'>): string | null
}

/**
 * A client's own entries in X-Forwarded-For prove nothing, so only those of declared proxies count: from the last one
 * on, each names its caller.
 * @param proxies addresses, or networks such as 10.0.0.0/8
 */
export function createAddresses(proxies: readonly string[]): Addresses {
  const trusted = new BlockList()
  for (const proxy of proxies) {
    const [network = '', prefix] = proxy.split('/')
    const family = familyOf(network)
    trusted.addSubnet(network, prefix === undefined ? BITS[family] : Number(prefix), family)
  }
  const isTrusted = (address: string): boolean => isIP(address) !== 0 && trusted.check(address, familyOf(address))
  const ofPeer = ({ remoteAddress = '' }: Pick<Socket, 'remoteAddress'>): string | null =>
    proxies.length > 0 && isTrusted(remoteAddress) ? null : addressGroup(remoteAddress)
  const of = ({ socket, headers }: IncomingMessage): string => {
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
  return { of, ofPeer }
}

const BITS = { ipv4: 32, ipv6: 128 } as const
const familyOf = (address: string): keyof typeof BITS => (isIP(address) === 6 ? 'ipv6' : 'ipv4')
