/** A URL of Postgres, which may name several servers, as libpq reads it. Pure. */

/** A name, an address, or the folder of a socket. */
export interface DatabasePlace {
  readonly host: string
  readonly port: number
}

export interface DatabaseUrl {
  /** With one server, the first, and without what only we read: what the driver takes. */
  readonly driverUrl: string
  /** Several, in their order; empty: one, which the driver finds by itself. */
  readonly places: readonly DatabasePlace[]
  /** Only a server that takes writes will do. */
  readonly needsPrimary: boolean
  /** The password file, as in libpq; null: the default one. */
  readonly passFile: string | null
}
type ReadDatabaseUrl =
  | { readonly ok: true; readonly url: DatabaseUrl }
  | { readonly ok: false; readonly problem: string }

const URL_PARTS =
  /^(?<scheme>postgres(?:ql)?:\/\/)(?:(?<login>[^/?#]*)@)?(?<hosts>[^/?#@]*)(?<rest>(?:\/[^?#]*)?)(?:\?(?<query>[^#]*))?$/
const HOST = /^(?<host>\[[0-9A-Fa-f:.]+\]|[^:[\]]*)(?::(?<port>\d+))?$/
const DEFAULT_PORT = 5_432
const MAX_SERVERS = 16
/** The other values of libpq are for readers; this program writes. */
const PRIMARY = ['read-write', 'primary']
/** Parameters that the driver would not understand. */
const OWN = ['target_session_attrs', 'passfile']

const SHAPE = 'must be a URL that starts with postgres:// or postgresql://'

/** Problems contain nothing of the text, which may have a password in it. */
export function readDatabaseUrl(text: string): ReadDatabaseUrl {
  const parts = URL_PARTS.exec(text)?.groups
  if (!parts) return refuse(SHAPE)
  const { scheme = '', login, hosts: authority = '', rest = '' } = parts
  const params = new URLSearchParams(parts.query ?? '')
  const places = placesOf(authority, params)
  if (places === null) return refuse('its servers must be host or host:port, with commas between several')
  if (places.length > MAX_SERVERS) return refuse(`must name at most ${MAX_SERVERS} servers`)
  const attributes = params.get('target_session_attrs')
  if (attributes !== null && !PRIMARY.includes(attributes))
    return refuse(`target_session_attrs must be ${PRIMARY.join(' or ')}, since the server writes`)
  const passFile = params.get('passfile')
  const isOne = places.length < 2
  const before = params.size
  for (const own of OWN) params.delete(own)
  if (!isOne) for (const given of ['host', 'port']) params.delete(given)
  // As it was written, if nothing of it is ours.
  const rewritten = params.size === before ? (parts.query ?? '') : String(params)
  const query = rewritten === '' ? '' : `?${rewritten}`
  const host = isOne ? authority : authorityOf(places[0])
  const driverUrl = `${scheme}${login === undefined ? '' : `${login}@`}${host}${rest}${query}`
  if (!URL.canParse(driverUrl)) return refuse(SHAPE)
  return {
    ok: true,
    url: { driverUrl, places: isOne ? [] : places, needsPrimary: !isOne || attributes !== null, passFile },
  }
}

/** The URL with this server alone, for programs that take one. */
export function withPlace({ driverUrl }: DatabaseUrl, place: DatabasePlace): string {
  const parts = URL_PARTS.exec(driverUrl)?.groups
  const { scheme = '', login, rest = '', query } = parts ?? {}
  return `${scheme}${login === undefined ? '' : `${login}@`}${authorityOf(place)}${rest}${query === undefined ? '' : `?${query}`}`
}

export const nameOf = ({ host, port }: DatabasePlace): string =>
  host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`

const refuse = (problem: string): ReadDatabaseUrl => ({ ok: false, problem })

const authorityOf = (place: DatabasePlace | undefined): string => {
  if (!place) return ''
  return place.host.startsWith('/') ? `${encodeURIComponent(place.host)}:${place.port}` : nameOf(place)
}

/** Null: malformed. A parameter replaces what stands in the place of the host. */
function placesOf(authority: string, params: URLSearchParams): readonly DatabasePlace[] | null {
  const listed = params.get('host')?.split(',')
  const ports = params.get('port')?.split(',')
  if (!listed) return authority.split(',').length < 2 ? [] : readAll(authority.split(','))
  if (ports && ports.length > 1 && ports.length !== listed.length) return null
  if (listed.length < 2) return []
  return readAll(listed.map((host, i) => [host, ports?.[i] ?? ports?.[0]].filter(Boolean).join(':')))
}

function readAll(texts: readonly string[]): readonly DatabasePlace[] | null {
  const places = texts.map(readPlace)
  return places.every((place) => place !== null) ? places : null
}

function readPlace(text: string): DatabasePlace | null {
  const { host = '', port } = HOST.exec(text.trim())?.groups ?? {}
  const number = Number(port ?? DEFAULT_PORT)
  if (host === '' || number > 65_535) return null
  return { host: decode(host.replace(/^\[(.*)\]$/, '$1')), port: number }
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
