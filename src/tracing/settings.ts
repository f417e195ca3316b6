import { Secret } from '../core/secret.ts'

/** OpenTelemetry's own variables, as far as they are about traces. */

const SAMPLERS = [
  ...['always_on', 'always_off', 'traceidratio'],
  ...['parentbased_always_on', 'parentbased_always_off', 'parentbased_traceidratio'],
] as const
type Sampler = (typeof SAMPLERS)[number]
const PROTOCOLS = ['http/protobuf', 'http/json'] as const
type Protocol = (typeof PROTOCOLS)[number]

export interface TracingSettings {
  /** The endpoint for spans. */
  readonly url: string
  readonly protocol: Protocol
  readonly headers: Secret | null
  readonly sampler: Sampler
  /** Sampled share of traces that begin here, from 0 to 1. */
  readonly ratio: number
  /** Null: what the process is. */
  readonly serviceName: string | null
  readonly attributes: Readonly<Record<string, string>>
  readonly timeoutMs: number
  /** Spans that wait to be sent; more are dropped. */
  readonly queueSize: number
  readonly batchSize: number
  readonly delayMs: number
}

/** Hold keys of collectors, so they are secrets. */
export const TRACING_SECRETS = ['OTEL_EXPORTER_OTLP_HEADERS', 'OTEL_EXPORTER_OTLP_TRACES_HEADERS'] as const

/** Variables that a process passes on to its agents, without secrets. */
export const TRACING_VARIABLES = [
  'OTEL_SDK_DISABLED',
  'OTEL_TRACES_EXPORTER',
  'OTEL_EXPORTER_OTLP_ENDPOINT',
  'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
  'OTEL_EXPORTER_OTLP_PROTOCOL',
  'OTEL_EXPORTER_OTLP_TRACES_PROTOCOL',
  'OTEL_EXPORTER_OTLP_TIMEOUT',
  'OTEL_EXPORTER_OTLP_TRACES_TIMEOUT',
  'OTEL_TRACES_SAMPLER',
  'OTEL_TRACES_SAMPLER_ARG',
  'OTEL_SERVICE_NAME',
  'OTEL_RESOURCE_ATTRIBUTES',
  'OTEL_BSP_MAX_QUEUE_SIZE',
  'OTEL_BSP_MAX_EXPORT_BATCH_SIZE',
  'OTEL_BSP_SCHEDULE_DELAY',
] as const

export interface JudgedTracing {
  /** Null: nothing is traced. */
  readonly tracing: TracingSettings | null
  /** Each begins with the name of a variable. */
  readonly problems: readonly string[]
}

type Env = Readonly<Record<string, string | undefined>>

/** Without an endpoint nothing is traced, whatever else is set: other programs share these variables. */
export function judgeTracing(env: Env): JudgedTracing {
  const read = new Reader(env)
  const isOff = read.text('OTEL_SDK_DISABLED')?.toLowerCase() === 'true'
  const exporter = read.text('OTEL_TRACES_EXPORTER')
  const url = read.endpoint()
  if (isOff || exporter === 'none' || url === null) return { tracing: null, problems: read.problems }
  if (exporter !== undefined && exporter !== 'otlp') read.wrong('OTEL_TRACES_EXPORTER', 'must be otlp or none')
  const queueSize = read.integer('OTEL_BSP_MAX_QUEUE_SIZE', { byDefault: 2_048, least: 1, most: 65_536 })
  const batchSize = read.integer('OTEL_BSP_MAX_EXPORT_BATCH_SIZE', { byDefault: 512, least: 1, most: 8_192 })
  const tracing: TracingSettings = {
    url,
    protocol: read.oneOf(['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'OTEL_EXPORTER_OTLP_PROTOCOL'], PROTOCOLS),
    headers: read.headers(),
    sampler: read.oneOf(['OTEL_TRACES_SAMPLER'], SAMPLERS, 'parentbased_always_on'),
    ratio: read.ratio('OTEL_TRACES_SAMPLER_ARG'),
    serviceName: read.text('OTEL_SERVICE_NAME') ?? null,
    attributes: read.pairs('OTEL_RESOURCE_ATTRIBUTES'),
    timeoutMs: read.integer(
      read.text('OTEL_EXPORTER_OTLP_TRACES_TIMEOUT')
        ? 'OTEL_EXPORTER_OTLP_TRACES_TIMEOUT'
        : 'OTEL_EXPORTER_OTLP_TIMEOUT',
      { byDefault: 10_000, least: 1, most: 60_000 },
    ),
    ...{ queueSize, batchSize: Math.min(batchSize, queueSize) },
    delayMs: read.integer('OTEL_BSP_SCHEDULE_DELAY', { byDefault: 5_000, least: 1, most: 60_000 }),
  }
  return { tracing: read.problems.length > 0 ? null : tracing, problems: read.problems }
}

const MAX_PAIRS = 64
const MAX_TEXT = 4_096

class Reader {
  readonly #env: Env
  readonly problems: string[] = []

  constructor(env: Env) {
    this.#env = env
  }

  wrong(name: string, what: string): void {
    this.problems.push(`${name}: ${what}`)
  }

  /** An empty one is not set. */
  text(name: string): string | undefined {
    return this.#env[name]?.trim() || undefined
  }

  endpoint(): string | null {
    const [own, base] = ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT']
    const name = this.text(own) === undefined ? base : own
    const text = this.text(name)
    if (text === undefined) return null
    const url = URL.parse(text)
    if (url && /^https?:$/.test(url.protocol) && !url.username && !url.password)
      return name === own ? url.href : `${url.href.replace(/\/$/, '')}/v1/traces`
    this.wrong(name, 'must be an http or https URL without credentials, e.g. http://collector:4318')
    return null
  }

  oneOf<T extends string>(names: readonly string[], known: readonly T[], byDefault: T = known[0] as T): T {
    const name = names.find((each) => this.text(each) !== undefined)
    const text = name && this.text(name)
    if (!name || !text) return byDefault
    const found = known.find((each) => each === text)
    if (!found) this.wrong(name, `must be ${known.join(', ')}`)
    return found ?? byDefault
  }

  integer(name: string, { byDefault, least, most }: { byDefault: number; least: number; most: number }): number {
    const text = this.text(name)
    if (text === undefined) return byDefault
    const number = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN
    if (number >= least && number <= most) return number
    this.wrong(name, `must be a whole number from ${least} to ${most}`)
    return byDefault
  }

  ratio(name: string): number {
    const text = this.text(name)
    if (text === undefined) return 1
    const number = /^\d*\.?\d+$/.test(text) ? Number(text) : Number.NaN
    if (number >= 0 && number <= 1) return number
    this.wrong(name, 'must be a number from 0 to 1')
    return 1
  }

  headers(): Secret | null {
    const [base, own] = TRACING_SECRETS
    const name = this.text(own) === undefined ? base : own
    const text = this.text(name)
    if (text === undefined) return null
    this.pairs(name)
    return new Secret(text)
  }

  pairs(name: string): Readonly<Record<string, string>> {
    const parsed = parsePairs(this.text(name) ?? '')
    if (!parsed) this.wrong(name, `must be key=value, at most ${MAX_PAIRS} with commas between them, percent-encoded`)
    return parsed ?? {}
  }
}

/** `key=value,key=value`, percent-encoded; null: it is not. */
export function parsePairs(text: string): Readonly<Record<string, string>> | null {
  const parts = text.split(',').filter((part) => part.trim() !== '')
  if (parts.length > MAX_PAIRS || text.length > MAX_TEXT) return null
  const pairs: Record<string, string> = {}
  for (const part of parts) {
    const at = part.indexOf('=')
    if (at < 1) return null
    try {
      pairs[part.slice(0, at).trim()] = decodeURIComponent(part.slice(at + 1).trim())
    } catch {
      return null
    }
  }
  return pairs
}
