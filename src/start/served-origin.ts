import { lookup } from 'node:dns/promises'
import { isLoopback } from '../core/loopback.ts'

/** The address by which commands on this machine call a server, from the one that it listens on. */
export async function servedOrigin(origin: string): Promise<string> {
  const url = new URL(origin)
  const { hostname, protocol } = url
  const everywhere = EVERYWHERE[hostname]
  if (everywhere !== undefined) url.hostname = everywhere
  // Its other address may be another program's. With encryption the certificate, which has the name, tells them apart.
  else if (protocol === 'http:' && isLoopback(hostname)) url.hostname = hostOf(await lookup(unbracketed(hostname)))
  return url.origin
}

const EVERYWHERE: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '[::]': '[::1]' }
const unbracketed = (host: string): string => host.replace(/^\[(.*)\]$/, '$1')
const hostOf = ({ address, family }: { readonly address: string; readonly family: number }): string =>
  family === 6 ? `[${address}]` : address
