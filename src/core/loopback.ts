/** Whether only this machine can reach the host, a name or address as in a setting or a URL. */
export const isLoopback = (host: string): boolean => /^(localhost|127(\.\d+){3}|\[?::1\]?)$/i.test(host)

/** Whether nobody on the network can read or change what goes to this URL and comes from it. */
export function isPrivateUrl(url: string): boolean {
  const { protocol, hostname } = new URL(url)
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname))
}
