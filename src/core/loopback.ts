/** Whether only this machine can reach the host, a name or address as in a setting or a URL. */
export const isLoopback = (host: string): boolean => /^(localhost|127(\.\d+){3}|\[?::1\]?)$/i.test(host)
