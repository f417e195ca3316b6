/** A URL of Redis: one server, those that Sentinels watch, or a cluster. Pure. */

export interface RedisPlace {
  readonly host: string
  readonly port: number
}
interface RedisLogin {
  readonly username?: string
  readonly password?: string
}

export interface RedisUrl {
  readonly kind: 'server' | 'sentinel' | 'cluster'
  /** Some nodes of a cluster, or the Sentinels. */
  readonly places: readonly RedisPlace[]
  readonly isEncrypted: boolean
  readonly login: RedisLogin
  readonly database: number
  /** The Sentinels' name of the primary. */
  readonly primaryName: string
  readonly sentinelLogin: RedisLogin
  /** In PEM, as redis-cli calls them; they are read for each connection. */
  readonly files: { readonly ca: string | null; readonly cert: string | null; readonly key: string | null }
}
type ReadRedisUrl = { readonly ok: true; readonly url: RedisUrl } | { readonly ok: false; readonly problem: string }

const PARTS =
  /^redis(?<tls>s?)(?:\+(?<kind>sentinel|cluster))?:\/\/(?:(?<username>[^:@/?#]*)(?::(?<password>[^@/?#]*))?@)?(?<hosts>[^@/?#]+)(?:\/(?<path>[^?#]*))?(?:\?(?<query>[^#]*))?$/
const HOST = /^(?<host>\[[0-9A-Fa-f:.]+\]|[^:[\]]+)(?::(?<port>\d+))?$/
const PORT = { server: 6_379, sentinel: 26_379, cluster: 6_379 } as const
const MAX_SERVERS = 64
const PARAMETERS = new Set(['cacert', 'cert', 'key', 'sentinelUsername', 'sentinelPassword'])
const SHAPE =
  'must be redis://HOST, rediss://HOST, redis+sentinel://HOST,HOST/NAME or redis+cluster://HOST,HOST, with user and password before an @'

/** Problems contain nothing of the text, which may have a password in it. */
export function readRedisUrl(text: string): ReadRedisUrl {
  const parts = PARTS.exec(text.trim())?.groups
  if (!parts) return refuse(SHAPE)
  const kind = (parts.kind ?? 'server') as RedisUrl['kind']
  const places = (parts.hosts ?? '').split(',').map((host) => readPlace(host, PORT[kind]))
  if (!places.every((place) => place !== null) || places.length > MAX_SERVERS) return refuse(SHAPE)
  if (kind === 'server' && places.length > 1)
    return refuse('names several servers: write redis+sentinel:// or redis+cluster://')
  const path = (parts.path ?? '').split('/')
  const database = readDatabase(kind, path)
  if (database === null) return refuse(PATHS[kind])
  const params = new URLSearchParams(parts.query ?? '')
  if ([...params.keys()].some((name) => !PARAMETERS.has(name)))
    return refuse(`its parameters may be ${[...PARAMETERS].join(', ')}`)
  const isEncrypted = parts.tls === 's'
  const files = { ca: params.get('cacert'), cert: params.get('cert'), key: params.get('key') }
  if (!isEncrypted && Object.values(files).some((file) => file !== null))
    return refuse('has certificates, and no encryption: write rediss instead of redis')
  if ((files.cert === null) !== (files.key === null)) return refuse('needs both cert and key, or neither')
  return {
    ok: true,
    url: {
      ...{ kind, places, isEncrypted, database, files },
      login: loginOf(decode(parts.username), decode(parts.password)),
      primaryName: kind === 'sentinel' ? (decode(path[0]) ?? '') : '',
      sentinelLogin: loginOf(params.get('sentinelUsername') ?? undefined, params.get('sentinelPassword') ?? undefined),
    },
  }
}

const PATHS = {
  server: 'must end with the number of a database, or with the server',
  sentinel:
    'must name after a slash what the Sentinels call the server, and may have the number of a database after another one',
  cluster: 'must have no database: a cluster has one',
} as const

const refuse = (problem: string): ReadRedisUrl => ({ ok: false, problem })

/** Null: it is none. */
function readDatabase(kind: RedisUrl['kind'], path: readonly string[]): number | null {
  const [first = '', second = '', ...more] = path
  if (more.length > 0) return null
  if (kind === 'sentinel') return first === '' ? null : numberOf(second)
  if (second !== '' || (kind === 'cluster' && first !== '')) return null
  return numberOf(first)
}
const numberOf = (text: string): number | null => {
  if (text === '') return 0
  return /^\d{1,5}$/.test(text) ? Number(text) : null
}

function readPlace(text: string, defaultPort: number): RedisPlace | null {
  const { host = '', port } = HOST.exec(text.trim())?.groups ?? {}
  const number = Number(port ?? defaultPort)
  if (host === '' || number > 65_535) return null
  return { host: host.replace(/^\[(.*)\]$/, '$1'), port: number }
}

const loginOf = (username: string | undefined, password: string | undefined): RedisLogin => ({
  ...(username && { username }),
  ...(password && { password }),
})

function decode(text: string | undefined): string | undefined {
  try {
    return text === undefined ? undefined : decodeURIComponent(text)
  } catch {
    return text
  }
}
