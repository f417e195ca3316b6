/** True if only this machine can reach the host, a name or address as in a setting or a URL. */
export const isLoopback = (host: string): boolean => /^(localhost|127(\.\d+){3}|\[?::1\]?)$/i.test(host)

/** True if nobody on the network can read or change the traffic of this URL. */
export function isPrivateUrl(url: string): boolean {
  const { protocol, hostname } = new URL(url)
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname))
}
