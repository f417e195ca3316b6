/**
 * Any web page that a user opens can reach a server on loopback. Two checks keep pages of other origins out: `Host` must be
 * a name of this server (a DNS rebinding attack has another one), and `Origin` must be that very host.
 */
export interface OriginRules {
  /** The address that the server listens on. */
  readonly host: string
  readonly port: number
  /** More names of this server, each with a port or, for any port, without one. */
  readonly allowedHosts: readonly string[]
  /** More origins whose pages may call the API, e.g. https://ops.example.org. */
  readonly allowedOrigins: readonly string[]
  /** Called over https; otherwise a proxy may be. */
  readonly isSecure?: boolean
  /** False: no page may call, of whatever origin. */
  readonly allowsPages?: boolean
  /** Probes name the server by an address that it need not know, such as that of a pod. Only where no page could do harm. */
  readonly allowsAnyHost?: boolean
}

export type OriginVerdict =
  /** `granted`: the other origin that the page is of; null for this one, and for what is no page. */
  { readonly ok: true; readonly granted: string | null } | { readonly ok: false; readonly message: string }

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]']
/** A server that listens on all addresses has no name by its address. */
const ANY_ADDRESS = ['0.0.0.0', '::', '']

export function checkOrigin(
  { host, origin }: { readonly host?: string | undefined; readonly origin?: string | undefined },
  rules: OriginRules,
): OriginVerdict {
  if (host === undefined || !(rules.allowsAnyHost || isOurs(host.toLowerCase(), rules))) {
    return refused('The Host header names another server than this one; PHASELINE_ALLOWED_HOSTS can name more.')
  }
  if (origin === undefined) return { ok: true, granted: null }
  if (rules.allowsPages === false) return refused('Pages may not call here.')
  if (isSame(origin, host, rules)) return { ok: true, granted: null }
  if (rules.allowedOrigins.includes(origin)) return { ok: true, granted: origin }
  return refused('Pages of other origins may not call; PHASELINE_ALLOWED_ORIGINS can name some.')
}

const refused = (message: string): OriginVerdict => ({ ok: false, message })

function isOurs(host: string, { host: bound, port, allowedHosts, isSecure = false }: OriginRules): boolean {
  const named = allowedHosts.some((allowed) => host === allowed.toLowerCase() || nameOf(host) === allowed.toLowerCase())
  if (named) return true
  const names = ANY_ADDRESS.includes(bound) ? LOOPBACK : [...LOOPBACK, bracketed(bound.toLowerCase())]
  return names.includes(nameOf(host)) && portOf(host, isSecure) === port
}

const bracketed = (address: string): string => (address.includes(':') ? `[${address}]` : address)
const nameOf = (host: string): string => host.replace(/:\d+$/, '')
const portOf = (host: string, isSecure: boolean): number => Number(/:(\d+)$/.exec(host)?.[1] ?? (isSecure ? 443 : 80))

function isSame(origin: string, host: string, { isSecure = false }: OriginRules): boolean {
  const url = URL.parse(origin)
  // A URL leaves its default port out, as the Host header does.
  return (
    url !== null &&
    (url.protocol === 'https:' || (url.protocol === 'http:' && !isSecure)) &&
    url.host === host.toLowerCase()
  )
}
