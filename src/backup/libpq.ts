import type { Connection } from '../store/pool.ts'

/** Lets a program of Postgres reach the same database as our driver. Pure. */

type Env = Readonly<Record<string, string | undefined>>

/** The driver's interpretation of the settings. */
interface Resolved {
  readonly host: string
  readonly port: number
  readonly user?: string | undefined
  readonly database?: string | undefined
}
export interface LibpqOptions {
  readonly connection: Connection
  readonly resolved: Resolved
  readonly env: Env
  /** A file with the password; undefined: there is none of our own. */
  readonly passFile?: string | undefined
  /** The major version of the program. */
  readonly major: number
}

/** Nothing else of our environment is passed on: it may hold secrets. HOME has .pgpass and certificates of clients. */
const PASSED = [
  ...['PATH', 'HOME', 'LD_LIBRARY_PATH', 'PGPASSFILE', 'PGSSLMODE', 'PGSSLROOTCERT', 'PGSSLCERT', 'PGSSLKEY'],
  ...['PGSSLCRL', 'PGOPTIONS', 'PGCHANNELBINDING', 'PGSSLNEGOTIATION'],
]
/** Parameters of a URL that both know, and what libpq calls them. */
const PARAMETERS = {
  sslcert: 'PGSSLCERT',
  sslkey: 'PGSSLKEY',
  sslrootcert: 'PGSSLROOTCERT',
  sslnegotiation: 'PGSSLNEGOTIATION',
  channel_binding: 'PGCHANNELBINDING',
  options: 'PGOPTIONS',
} as const
/** Bounds a wait for a connection that is dead, as those of our own are. None of it is secret. */
export const CONNINFO =
  'application_name=phaseline connect_timeout=10 keepalives_idle=10 keepalives_interval=2 keepalives_count=5 tcp_user_timeout=20000'
/** The first version with an option to trust the authorities of the system. */
const SYSTEM_AUTHORITIES_SINCE = 16

/** The line of a password file with which it fits whatever is connected to. */
export const passLine = (password: string): string => `*:*:*:*:${password.replace(/[\\:]/g, '\\$&')}\n`

/** The environment of the program. The password is in a file: others of the same user read environments, and all read arguments. */
export function libpqEnvironment({ connection, resolved, env, passFile, major }: LibpqOptions): Record<string, string> {
  const params = new URL(connection.connectionString ?? 'postgresql:///').searchParams
  const { host, port, user, database } = resolved
  const given = {
    ...Object.fromEntries(PASSED.map((name) => [name, env[name]])),
    ...Object.fromEntries(
      Object.entries(PARAMETERS).flatMap(([param, name]) => {
        const value = params.get(param)
        return value === null ? [] : [[name, value]]
      }),
    ),
    ...{ PGHOST: host, PGPORT: String(port), PGUSER: user, PGDATABASE: database },
    ...(passFile && { PGPASSFILE: passFile }),
    ...{ LC_ALL: 'C', TZ: 'UTC' },
  }
  const all = { ...given, ...tlsOf(params, given, major) }
  return Object.fromEntries(Object.entries(all).filter((entry): entry is [string, string] => Boolean(entry[1])))
}

/** Our driver checks the certificate in modes in which libpq does not: the program must be no less strict. */
function tlsOf(params: URLSearchParams, given: Env, major: number): Env {
  const mode = params.get('sslmode') ?? given.PGSSLMODE
  const wants = ['sslcert', 'sslkey', 'sslrootcert'].some((name) => params.has(name))
  const strict = { PGSSLMODE: 'verify-full', PGSSLROOTCERT: given.PGSSLROOTCERT ?? authorities(major) }
  if (mode === 'disable') return { PGSSLMODE: 'disable' }
  if (mode === 'no-verify' || params.get('ssl') === 'no-verify') return { PGSSLMODE: 'require' }
  if (params.get('uselibpqcompat') === 'true') return { PGSSLMODE: mode }
  const isOn = mode !== undefined || wants || ['true', '1'].includes(params.get('ssl') ?? '')
  return isOn ? strict : {}
}

const authorities = (major: number): string | undefined => (major >= SYSTEM_AUTHORITIES_SINCE ? 'system' : undefined)
