import { createPrivateKey, type KeyObject } from 'node:crypto'
import { isIP } from 'node:net'
import { isAbsolute } from 'node:path'
import { z } from 'zod'
import { CHOSEN_TOKEN_RULE, isChosenToken } from './core/bearer.ts'
import { DATABASE_DEADLINES, type DatabaseDeadlines } from './core/database-deadlines.ts'
import { readDatabaseUrl } from './core/database-url.ts'
import { ALL_TYPES, type EditorTypes, isItemType } from './core/deployers/item-types.ts'
import { GATEWAY_LIMITS, type GatewayLimits, type LimitSetting } from './core/gateway-limits.ts'
import { isLoopback } from './core/loopback.ts'
import { readRedisUrl } from './core/redis-url.ts'
import { Secret } from './core/secret.ts'
import type { TimeoutDefaults, TimeoutSetting } from './core/tree.ts'
import { judgeTracing, TRACING_SECRETS, type TracingSettings } from './tracing/settings.ts'

/** All settings of the environment, read once. Problems are reported together and never contain values. */

/** Secret settings. `<name>_FILE` may name a file with the value instead, `<name>_COMMAND` a command that prints it. */
export const SECRET_SETTINGS = [
  'PHASELINE_TOKEN',
  'PHASELINE_PREVIOUS_TOKEN',
  'PHASELINE_METRICS_TOKEN',
  'PHASELINE_SECRET_KEY',
  'PHASELINE_SEAL_KEY',
  'PHASELINE_SMTP_URL',
  'DATABASE_URL',
  'DATABASE_READ_URL',
  'REDIS_URL',
  ...TRACING_SECRETS,
] as const
/** All variables that may hold a secret of the server. */
export const SECRET_VARIABLES: readonly string[] = [...SECRET_SETTINGS, 'PGPASSWORD']

export type LogFormat = 'json' | 'text'

const ROLES = ['gateway', 'engine', 'agents'] as const
type Role = (typeof ROLES)[number]

export interface Config {
  readonly port: number
  readonly host: string
  /** Files in PEM; null: without encryption. */
  readonly tls: { readonly certFile: string; readonly keyFile: string } | null
  /** With encryption: the port on loopback for the built-in agents; 0: any free one. */
  readonly agentsPort: number
  /** The port for operators, with health and metrics; null: none but that of the gateway. */
  readonly admin: { readonly port: number; readonly host: string } | null
  /** Times of the shutdown, in milliseconds. */
  readonly drain: {
    /** In which everything still works, and load balancers learn of the end. */
    readonly delayMs: number
    /** Limit of the whole shutdown, the delay included. */
    readonly timeoutMs: number
  }
  /** The embedded data folder. */
  readonly dataDir: string
  /** Absent: an embedded Postgres in the data folder. */
  readonly databaseUrl: Secret | undefined
  /** Reads it again where its login may change, in a file or by a command; null then: it cannot be read now. Null: it stays. */
  readonly readDatabaseUrl: (() => Promise<string | null>) | null
  /** Replicas for queries; absent: the primary answers them. */
  readonly replicaUrl: Secret | undefined
  readonly readReplicaUrl: (() => Promise<string | null>) | null
  readonly deadlines: DatabaseDeadlines
  /** Absent: this process polls instead of hearing from others. */
  readonly redisUrl: Secret | undefined
  readonly roles: ReadonlySet<Role>
  /** The GraphQL endpoint that the agents of a process without a gateway call. */
  readonly agentsUrl: string | undefined
  /** The first administrator's token. */
  readonly token: Secret | undefined
  /** The one before it, which stays valid while processes change from one to the other. */
  readonly previousToken: Secret | undefined
  /** Reads the metrics of a process, without its database. */
  readonly metricsToken: Secret | undefined
  /** File of the issuers that sign people in, and of their rights. Absent: tokens of this server alone. */
  readonly accessPolicy: string | undefined
  readonly logLevel: string
  /** Absent: text for people on a terminal, else JSON. */
  readonly logFormat: LogFormat | undefined
  /** Null: nothing is traced. */
  readonly tracing: TracingSettings | null
  /** In addition to loopback and the host that the server listens on. */
  readonly allowedHosts: readonly string[]
  readonly allowedOrigins: readonly string[]
  /** Addresses and networks of proxies, which say for whom they call. */
  readonly trustedProxies: readonly string[]
  readonly limits: GatewayLimits
  readonly disclosure: { readonly introspection: boolean; readonly suggestions: boolean }
  /** The folder or file of documents that are trusted besides our own; and whether only trusted ones are run. */
  readonly documents: { readonly path: string | undefined; readonly isRequired: boolean }
  /** Folders whose executables may be run as gadgets. */
  readonly gadgetFolders: readonly string[]
  /** Types of deploy items that an EDITOR may write whatever they bring. */
  readonly editorTypes: EditorTypes
  readonly timeouts: TimeoutDefaults
  /** How long phase changes are kept; null: for ever. */
  readonly logRetentionMs: number | null
  /** How long events of the audit are kept; null: for ever. */
  readonly auditRetentionMs: number | null
  readonly artifacts: {
    /** How long they are kept; null: as long as their event. */
    readonly retentionMs: number | null
    /** Bytes of all artifacts of a project, and of its whole cache. */
    readonly quotaBytes: number
    readonly cacheBytes: number
  }
  /** How long a silent agent is listed; null: for ever. */
  readonly agentRetentionMs: number | null
  /** Keys of secrets: the first seals, all of them open. Empty: the embedded data folder has one. */
  readonly secretKeys: readonly SecretKey[]
  /** The private key that signs the seals of the log; null: nothing is sealed. */
  readonly sealKey: KeyObject | null
  /** Most workers and jobs that run at the same time, over all projects. */
  readonly capacity: { readonly maxWorkers: number; readonly maxJobs: number }
  /** Isolation of users' commands that the built-in agents run on this machine. */
  readonly workloads: {
    readonly level: 'isolated' | 'trusted' | 'off'
    /** Network of isolated ones. */
    readonly network: 'api' | 'host'
    /** Absolute paths of further folders that isolated ones may read. */
    readonly folders: readonly string[]
    /** Hosts that repositories are cloned from; absent: any, if workloads have a network. */
    readonly cloneHosts?: readonly string[] | undefined
  }
  readonly outgoing: {
    /** Private addresses and networks that rules may reach. */
    readonly networks: readonly string[]
    /** The mail server, and who its messages are from; null: no e-mail is sent. */
    readonly mail: { readonly url: Secret; readonly from: string } | null
    /** The address of the dashboard, without a slash at the end; null: messages have no links. */
    readonly dashboard: string | null
  }
  /** Why the process runtime is off by default; null: it is on, or was configured. */
  readonly processRuntimeOff: string | null
}

/** A key that seals secrets, of 32 bytes. */
export type SecretKey = Secret<Uint8Array>

const SECRET_KEY = /^[A-Za-z0-9+/]{43}=$/
/** Parses keys of 32 bytes each in base64, separated by commas or white space; null: at least one is malformed. */
export function secretKeysOf(text: string): readonly SecretKey[] | null {
  const keys = text.trim().split(/\s*,\s*|\s+/)
  return keys.every((key) => SECRET_KEY.test(key)) ? keys.map((key) => new Secret(Buffer.from(key, 'base64'))) : null
}

/** 24 days, the longest time of a timer. */
const MAX_MS = 2 ** 31 - 1

const list = (separator: string) =>
  z.string().transform((text) =>
    text
      .split(separator)
      .map((part) => part.trim())
      .filter(Boolean),
  )
const integer = (least: number, most: number) =>
  z
    .string()
    .regex(/^\d+$/, 'must be a whole number')
    .transform(Number)
    .pipe(z.number().refine((n) => n >= least && n <= most, `must be from ${least} to ${most}`))
/** An address, or a network in CIDR notation. */
function isNetwork(text: string): boolean {
  const [address = '', prefix, ...more] = text.split('/')
  const family = isIP(address)
  if (family === 0 || more.length > 0) return false
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= (family === 4 ? 32 : 128))
}
const databaseUrl = z.string().transform((text, context) => {
  const read = readDatabaseUrl(text)
  if (read.ok) return new Secret(text)
  context.addIssue({ code: 'custom', message: read.problem })
  return z.NEVER
})
const replicaUrl = z.string().transform((text, context) => {
  const read = readDatabaseUrl(text)
  const problem = read.ok
    ? read.url.needsPrimary
      ? 'must name one server, or one address for several replicas'
      : null
    : read.problem
  if (problem === null) return new Secret(text)
  context.addIssue({ code: 'custom', message: problem })
  return z.NEVER
})
const redisUrl = z.string().transform((text, context) => {
  const read = readRedisUrl(text)
  if (read.ok) return new Secret(text)
  context.addIssue({ code: 'custom', message: read.problem })
  return z.NEVER
})
function isEndpoint(text: string): boolean {
  const url = URL.parse(text)
  return url !== null && /^https?:$/.test(url.protocol) && !url.username && !url.password
}
const sealKey = z.string().transform((text, context) => {
  try {
    const key = createPrivateKey(text)
    if (key.asymmetricKeyType === 'ed25519') return key
  } catch {}
  context.addIssue({
    code: 'custom',
    message: 'must be a private Ed25519 key in PEM: openssl genpkey -algorithm ed25519',
  })
  return z.NEVER
})
const timeout = integer(1, MAX_MS)
const UNIT_MS = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const
const MAX_AMOUNT = 99_999
const age = z.string().transform((text, context) => {
  if (text === 'never') return null
  const [, amount, unit] = /^([1-9]\d{0,4})([mhd])$/.exec(text) ?? []
  if (amount !== undefined && unit !== undefined) return Number(amount) * UNIT_MS[unit as keyof typeof UNIT_MS]
  const message = `must be never, or a whole number from 1 to ${MAX_AMOUNT} with m, h or d after it, e.g. 30d`
  context.addIssue({ code: 'custom', message })
  return z.NEVER
})

const secretKeys = z.string().transform((text, context) => {
  const keys = secretKeysOf(text)
  if (keys) return keys
  context.addIssue({ code: 'custom', message: 'must be 32 bytes in base64; several with commas between them' })
  return z.NEVER
})

// The token is sent in a header as it is, and alone protects the server from web pages.
const token = z
  .string()
  .refine(isChosenToken, CHOSEN_TOKEN_RULE)
  .transform((text) => new Secret(text))

const schema = z.object({
  PORT: integer(0, 65_535).default(4_000),
  HOST: z.string().default('127.0.0.1'),
  PHASELINE_TLS_CERT: z.string().optional(),
  PHASELINE_TLS_KEY: z.string().optional(),
  PHASELINE_AGENTS_PORT: integer(0, 65_535).default(0),
  PHASELINE_ADMIN_PORT: integer(0, 65_535).optional(),
  PHASELINE_ADMIN_HOST: z.string().default('127.0.0.1'),
  PHASELINE_DRAIN_DELAY_MS: integer(0, MAX_MS).default(0),
  // Less than the 30 s after which Kubernetes kills.
  PHASELINE_DRAIN_TIMEOUT_MS: timeout.default(25_000),
  PHASELINE_DATA: z.string().default('.phaseline'),
  DATABASE_URL: databaseUrl.optional(),
  DATABASE_READ_URL: replicaUrl.optional(),
  REDIS_URL: redisUrl.optional(),
  PHASELINE_ROLES: list(',')
    .refine(
      (roles): roles is Role[] => roles.length > 0 && roles.every((role) => ROLES.some((known) => known === role)),
      `must be a comma-separated list of ${ROLES.join(', ')}`,
    )
    .default([...ROLES]),
  PHASELINE_URL: z
    .string()
    .refine(isEndpoint, 'must be an http or https URL without credentials, e.g. https://phaseline.example/graphql')
    .optional(),
  PHASELINE_TOKEN: token.optional(),
  PHASELINE_PREVIOUS_TOKEN: token.optional(),
  PHASELINE_METRICS_TOKEN: token.optional(),
  PHASELINE_ACCESS_POLICY: z.string().optional(),
  PHASELINE_LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
  PHASELINE_LOG_FORMAT: z.enum(['json', 'text']).optional(),
  PHASELINE_ALLOWED_HOSTS: list(',').default([]),
  PHASELINE_ALLOWED_ORIGINS: list(',').default([]),
  PHASELINE_TRUSTED_PROXIES: list(',')
    .refine(
      (networks) => networks.every(isNetwork),
      'must be addresses or networks such as 10.0.0.0/8, comma-separated',
    )
    .default([]),
  PHASELINE_INTROSPECTION: z.enum(['on', 'off']).default('on'),
  PHASELINE_SUGGESTIONS: z.enum(['on', 'off']).default('on'),
  PHASELINE_DOCUMENTS: z.string().optional(),
  PHASELINE_TRUSTED_DOCUMENTS: z.enum(['optional', 'required']).default('optional'),
  PHASELINE_GADGETS: list(':').default([]),
  PHASELINE_EDITOR_TYPES: list(',')
    .refine(
      (types) => types.every((type) => type === ALL_TYPES || isItemType(type)),
      `must be types of deploy items, comma-separated, or ${ALL_TYPES} for all`,
    )
    .default([]),
  PHASELINE_PICKUP_TIMEOUT_MS: timeout.default(300_000),
  PHASELINE_PROGRESSING_TIMEOUT_MS: timeout.default(600_000),
  PHASELINE_ABORTING_TIMEOUT_MS: timeout.default(300_000),
  PHASELINE_LOG_RETENTION: age.default(30 * UNIT_MS.d),
  // A year, the usual requirement of auditors, such as PCI DSS.
  PHASELINE_AUDIT_RETENTION: age.default(365 * UNIT_MS.d),
  PHASELINE_ARTIFACT_RETENTION: age.default(30 * UNIT_MS.d),
  PHASELINE_ARTIFACT_QUOTA_MIB: integer(0, 1_048_576).default(1_024),
  PHASELINE_CACHE_QUOTA_MIB: integer(0, 1_048_576).default(1_024),
  PHASELINE_AGENT_RETENTION: age.default(7 * UNIT_MS.d),
  PHASELINE_SECRET_KEY: secretKeys.optional(),
  PHASELINE_SEAL_KEY: sealKey.optional(),
  PHASELINE_MAX_WORKERS: integer(0, 100_000).default(50),
  PHASELINE_MAX_JOBS: integer(0, 100_000).default(100),
  PHASELINE_PROCESS_RUNTIME: z.enum(['isolated', 'trusted', 'off']).optional(),
  PHASELINE_WORKLOAD_NETWORK: z.enum(['api', 'host']).default('api'),
  PHASELINE_WORKLOAD_FOLDERS: list(':')
    .refine((paths) => paths.every(isAbsolute), 'must be absolute paths with colons between them')
    .default([]),
  PHASELINE_CLONE_HOSTS: list(',').optional(),
  PHASELINE_PUBLIC_URL: z
    .string()
    .refine(isEndpoint, 'must be an http or https URL without credentials, e.g. https://phaseline.example')
    .transform((url) => url.replace(/\/+$/, ''))
    .optional(),
  PHASELINE_NOTIFICATION_NETWORKS: list(',')
    .refine(
      (networks) => networks.every(isNetwork),
      'must be addresses or networks such as 10.0.0.0/8, comma-separated',
    )
    .default([]),
  PHASELINE_SMTP_URL: z
    .string()
    .refine(
      (url) => /^smtps?:$/.test(URL.parse(url)?.protocol ?? ''),
      'must be a URL such as smtps://name:password@mail.example',
    )
    .transform((url) => new Secret(url))
    .optional(),
  PHASELINE_SMTP_FROM: z.string().optional(),
})

export type LoadedConfig =
  | { readonly ok: true; readonly config: Config }
  | { readonly ok: false; readonly problems: readonly string[] }

type Env = Readonly<Record<string, string | undefined>>

/** Names of the set variables that hold a secret, which other processes of the same user can read. */
export const exposedSecrets = (env: Env): readonly string[] =>
  SECRET_VARIABLES.filter((name) => {
    const value = env[name]?.trim()
    return value && (!name.endsWith('_URL') || hasPassword(value))
  })

function hasPassword(text: string): boolean {
  const redis = readRedisUrl(text)
  if (redis.ok) return [redis.url.login, redis.url.sentinelLogin].some(({ password }) => password !== undefined)
  const database = readDatabaseUrl(text)
  // The driver's has one server.
  const url = URL.parse(database.ok ? database.url.driverUrl : text)
  return url !== null && (url.password !== '' || url.searchParams.has('password'))
}

const withTables = (timeouts: readonly TimeoutSetting[]): typeof schema =>
  // The type of the extension would forget the other settings.
  schema.extend({
    ...Object.fromEntries(timeouts.map(({ setting, defaultMs }) => [setting, timeout.default(defaultMs)])),
    ...Object.fromEntries(
      [...Object.values(GATEWAY_LIMITS), ...Object.values(DATABASE_DEADLINES)].map(
        ({ setting, byDefault, least, most }) => [setting, integer(least, most).default(byDefault)],
      ),
    ),
  }) as object as typeof schema

export interface LoadOptions {
  /** Names a setting in a problem. */
  readonly nameOf?: (setting: string) => string
  /** Settings of families. */
  readonly timeouts?: readonly TimeoutSetting[]
}

/** A problem that begins with a setting, by the name that the user has given it. */
const named = (problem: string, nameOf: (setting: string) => string): string =>
  problem.replace(/^\w+/, (setting) => nameOf(setting))

export function loadConfig(env: Env, { nameOf = (setting) => setting, timeouts = [] }: LoadOptions = {}): LoadedConfig {
  // An empty value means that the variable is not set, as in most shells and compose files.
  const present = Object.fromEntries(Object.entries(env).filter(([, value]) => value?.trim()))
  const parsed = withTables(timeouts).safeParse(present)
  if (!parsed.success) {
    return {
      ok: false,
      problems: parsed.error.issues.map(({ path, message }) => `${nameOf(String(path[0]))}: ${message}`),
    }
  }
  const { data } = parsed
  if ((data.PHASELINE_TLS_CERT === undefined) !== (data.PHASELINE_TLS_KEY === undefined))
    return { ok: false, problems: ['PHASELINE_TLS_CERT and PHASELINE_TLS_KEY: set both or neither'] }
  const deadlines = fromTable(DATABASE_DEADLINES, data) as DatabaseDeadlines
  // The pool gives a new connection no longer than it lets wait for a free one.
  if (deadlines.poolTimeoutMs < deadlines.connectTimeoutMs)
    return {
      ok: false,
      problems: ['PHASELINE_DATABASE_POOL_TIMEOUT_MS: must be at least PHASELINE_DATABASE_CONNECT_TIMEOUT_MS'],
    }
  if (data.PHASELINE_DRAIN_DELAY_MS >= data.PHASELINE_DRAIN_TIMEOUT_MS)
    return { ok: false, problems: ['PHASELINE_DRAIN_DELAY_MS: must be less than PHASELINE_DRAIN_TIMEOUT_MS'] }
  if (data.DATABASE_READ_URL && !data.DATABASE_URL)
    return { ok: false, problems: [`${nameOf('DATABASE_READ_URL')}: needs DATABASE_URL, whose replica it is`] }
  const { tracing, problems } = judgeTracing(present)
  if (problems.length > 0) return { ok: false, problems: problems.map((problem) => named(problem, nameOf)) }
  const problem = judgeRoles(data) ?? judgeMail(data)
  if (problem) return { ok: false, problems: [problem] }
  const processRuntimeOff = data.PHASELINE_PROCESS_RUNTIME ? null : whyRuntimeOff(data)
  return {
    ok: true,
    config: {
      port: data.PORT,
      host: data.HOST,
      tls: tlsOf(data),
      agentsPort: data.PHASELINE_AGENTS_PORT,
      admin: adminOf(data),
      drain: { delayMs: data.PHASELINE_DRAIN_DELAY_MS, timeoutMs: data.PHASELINE_DRAIN_TIMEOUT_MS },
      dataDir: data.PHASELINE_DATA,
      databaseUrl: data.DATABASE_URL,
      readDatabaseUrl: null,
      replicaUrl: data.DATABASE_READ_URL,
      readReplicaUrl: null,
      redisUrl: data.REDIS_URL,
      roles: new Set(data.PHASELINE_ROLES),
      agentsUrl: data.PHASELINE_URL,
      token: data.PHASELINE_TOKEN,
      previousToken: data.PHASELINE_PREVIOUS_TOKEN,
      metricsToken: data.PHASELINE_METRICS_TOKEN,
      accessPolicy: data.PHASELINE_ACCESS_POLICY,
      logLevel: data.PHASELINE_LOG_LEVEL,
      logFormat: data.PHASELINE_LOG_FORMAT,
      tracing,
      allowedHosts: data.PHASELINE_ALLOWED_HOSTS,
      allowedOrigins: data.PHASELINE_ALLOWED_ORIGINS,
      trustedProxies: data.PHASELINE_TRUSTED_PROXIES,
      deadlines,
      limits: fromTable(GATEWAY_LIMITS, data) as GatewayLimits,
      disclosure: {
        introspection: data.PHASELINE_INTROSPECTION === 'on',
        suggestions: data.PHASELINE_SUGGESTIONS === 'on',
      },
      documents: { path: data.PHASELINE_DOCUMENTS, isRequired: data.PHASELINE_TRUSTED_DOCUMENTS === 'required' },
      gadgetFolders: data.PHASELINE_GADGETS,
      editorTypes: new Set(data.PHASELINE_EDITOR_TYPES),
      timeouts: {
        pickupMs: data.PHASELINE_PICKUP_TIMEOUT_MS,
        progressingMs: data.PHASELINE_PROGRESSING_TIMEOUT_MS,
        abortingMs: data.PHASELINE_ABORTING_TIMEOUT_MS,
        ...Object.fromEntries(timeouts.map(({ name, setting }) => [name, Reflect.get(data, setting)])),
      } as TimeoutDefaults,
      logRetentionMs: data.PHASELINE_LOG_RETENTION,
      auditRetentionMs: data.PHASELINE_AUDIT_RETENTION,
      artifacts: {
        retentionMs: data.PHASELINE_ARTIFACT_RETENTION,
        quotaBytes: data.PHASELINE_ARTIFACT_QUOTA_MIB * 1_024 * 1_024,
        cacheBytes: data.PHASELINE_CACHE_QUOTA_MIB * 1_024 * 1_024,
      },
      agentRetentionMs: data.PHASELINE_AGENT_RETENTION,
      secretKeys: data.PHASELINE_SECRET_KEY ?? [],
      sealKey: data.PHASELINE_SEAL_KEY ?? null,
      capacity: { maxWorkers: data.PHASELINE_MAX_WORKERS, maxJobs: data.PHASELINE_MAX_JOBS },
      workloads: {
        level: data.PHASELINE_PROCESS_RUNTIME ?? (processRuntimeOff ? 'off' : 'isolated'),
        network: data.PHASELINE_WORKLOAD_NETWORK,
        folders: data.PHASELINE_WORKLOAD_FOLDERS,
        cloneHosts: data.PHASELINE_CLONE_HOSTS,
      },
      outgoing: {
        networks: data.PHASELINE_NOTIFICATION_NETWORKS,
        mail:
          data.PHASELINE_SMTP_URL && data.PHASELINE_SMTP_FROM
            ? { url: data.PHASELINE_SMTP_URL, from: data.PHASELINE_SMTP_FROM }
            : null,
        dashboard: data.PHASELINE_PUBLIC_URL ?? null,
      },
      processRuntimeOff,
    },
  }
}

/** Why no e-mail could be sent; null: it can, or is not wanted. */
const judgeMail = (data: z.infer<typeof schema>): string | null =>
  (data.PHASELINE_SMTP_URL === undefined) === (data.PHASELINE_SMTP_FROM === undefined)
    ? null
    : 'PHASELINE_SMTP_URL and PHASELINE_SMTP_FROM: set both, or none'

/** Why a role would start nothing; null: each does what it says. */
function judgeRoles({ PHASELINE_ROLES: roles, ...data }: z.infer<typeof schema>): string | null {
  if (!roles.includes('agents') || roles.includes('gateway')) return null
  const missing = (['PHASELINE_URL', 'PHASELINE_TOKEN'] as const).filter((name) => data[name] === undefined)
  if (missing.length === 0) return null
  return `PHASELINE_ROLES: agents without gateway would start nothing without ${missing.join(' and ')}: set PHASELINE_URL to the GraphQL endpoint of a gateway and PHASELINE_TOKEN to the same as there, or leave agents out`
}

const fromTable = (table: Readonly<Record<string, LimitSetting>>, data: object): object =>
  Object.fromEntries(Object.entries(table).map(([name, { setting }]) => [name, Reflect.get(data, setting)]))

function tlsOf({ PHASELINE_TLS_CERT: certFile, PHASELINE_TLS_KEY: keyFile }: z.infer<typeof schema>): Config['tls'] {
  return certFile !== undefined && keyFile !== undefined ? { certFile, keyFile } : null
}

function adminOf({ PHASELINE_ADMIN_PORT: port, PHASELINE_ADMIN_HOST: host }: z.infer<typeof schema>): Config['admin'] {
  return port === undefined ? null : { port, host }
}

/** The process runtime lets every user of the API run commands here, so it is on by default only on a private machine. */
function whyRuntimeOff({ HOST, DATABASE_URL, PHASELINE_ROLES }: z.infer<typeof schema>): string | null {
  if (!PHASELINE_ROLES.includes('gateway')) return 'the gateway is another process'
  if (!isLoopback(HOST)) return `HOST is ${HOST}, which others may reach`
  return DATABASE_URL ? 'the database is not the embedded one' : null
}
