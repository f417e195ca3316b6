import type { HttpGateConfig } from '../core/deployers/gate.ts'
import type { FieldProblem } from '../core/errors.ts'
import { parseText } from '../core/expression.ts'
import { urlProblem, withoutQuery } from '../core/http-url.ts'
import { parseDuration, writeDuration } from '../core/parse-duration.ts'
import { beginningOf } from '../core/portable.ts'

/** Gates that an address opens: the server asks it until its answer fulfils a condition. */

/** How a gate asks its address. */
export interface HttpOpener {
  readonly url: string
  /** Name of the secret of the project whose headers are sent; null: none. */
  readonly secret: string | null
  readonly headers: Readonly<Record<string, string>>
  /** A CEL expression over `status`, `headers` and `body`. */
  readonly until: string
  readonly everyMs: number
}
/** The row of a gate's address, as far as people see it. */
export interface ShownPoll {
  /** The last answer in a sentence; null: there is none yet. */
  readonly answer: string | null
  /** As JSON has times. */
  readonly answeredAt: string | null
  readonly nextAt: string
}

const POLL_EVERY = { defaultMs: 30_000, leastMs: 1_000, mostMs: 24 * 60 * 60 * 1_000 } as const
const MAX_HEADERS = 20
const MAX_TEXT = 4_096
/** The part of a condition that sentences show, in characters. */
const SHOWN = 200

const HEADER = /^[!#$%&'*+.^_`|~\w-]{1,128}$/
const HEADER_VALUE = /^[\x20-\x7e]{0,4096}$/
/** Node writes these itself, or they would choose another host than that of the address. */
const OURS = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])
/** These are secrets, and the spec is none. */
const SECRET = new Set(['authorization', 'cookie', 'proxy-authorization'])

export const wrong = (path: string, message: string): FieldProblem => ({ path, message })

/** Reads `http` of a config, in which an expression may have become anything; or says what is wrong with it. */
export function readHttp(config: unknown): HttpOpener | FieldProblem {
  if (typeof config !== 'object' || config === null || Array.isArray(config)) return wrong('http', 'must be an object')
  const { url, secret = null, headers = {}, until, every, ...others } = config as Partial<HttpGateConfig>
  const [unknown] = Object.keys(others)
  if (unknown !== undefined) return wrong(`http.${unknown}`, 'is not known here')
  const problem = typeof url === 'string' && url.length <= MAX_TEXT ? urlProblem(url) : 'must be an http or https URL'
  if (problem) return wrong('http.url', problem)
  if (secret !== null && typeof secret !== 'string') return wrong('http.secret', 'must be the name of a secret')
  const wrongHeader = headerProblem(headers)
  if (wrongHeader) return wrongHeader
  if (typeof until !== 'string' || until.trim() === '' || until.length > MAX_TEXT || !isExpression(until))
    return wrong('http.until', 'must be an expression over status, headers and body, such as status == 200')
  const everyMs = every === undefined ? POLL_EVERY.defaultMs : typeof every === 'string' ? parseDuration(every) : null
  if (everyMs === null || everyMs < POLL_EVERY.leastMs || everyMs > POLL_EVERY.mostMs)
    return wrong('http.every', 'must be a duration from 1s to 1d, such as 30s')
  return { url: url as string, secret, headers, until, everyMs }
}

/** A closed expression, and nothing besides. */
function isExpression(text: string): boolean {
  const parsed = parseText(conditionOf({ until: text }))
  return parsed.ok && parsed.whole
}
/** The condition as a template that is evaluated. */
export const conditionOf = ({ until }: Pick<HttpOpener, 'until'>): string => `\${${until}}`

function headerProblem(headers: unknown): FieldProblem | null {
  if (typeof headers !== 'object' || headers === null || Array.isArray(headers))
    return wrong('http.headers', 'must be an object of texts')
  const all = Object.entries(headers)
  if (all.length > MAX_HEADERS) return wrong('http.headers', `must be at most ${MAX_HEADERS}`)
  for (const [name, value] of all) {
    const path = `http.headers.${name}`
    if (SECRET.has(name.toLowerCase())) return wrong(path, 'is a secret: name one with it in http.secret')
    if (!isHeader(name, value)) return wrong(path, 'is no header that may be sent')
  }
  return null
}
const isHeader = (name: string, value: unknown): boolean =>
  HEADER.test(name) && !OURS.has(name.toLowerCase()) && typeof value === 'string' && HEADER_VALUE.test(value)

/**
 * The headers of a secret: its first line is the address for which it is, each further one a header. So whoever sets it decides where
 * it goes, and not who names it in a spec. A text: the problem, which holds nothing of it.
 */
export function headersOf(name: string, secret: string, url: URL): Readonly<Record<string, string>> | string {
  const [address = '', ...lines] = secret
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter(Boolean)
  const read = lines.map((line) => /^([^:\s]+):\s*(.*)$/.exec(line))
  const headers = Object.fromEntries(read.map((found) => [found?.[1] ?? '', found?.[2] ?? '']))
  if (
    urlProblem(address) ||
    lines.length === 0 ||
    !Object.entries(headers).every(([key, value]) => isHeader(key, value))
  )
    return `The secret ${name} must have an address in its first line, and a header such as authorization: Bearer … in each further one.`
  const base = new URL(address)
  const below = base.pathname.replace(/\/?$/, '/')
  const isFor = base.origin === url.origin && (url.pathname === base.pathname || url.pathname.startsWith(below))
  return isFor ? headers : `The secret ${name} is for another address.`
}

/** Says what a gate waits for, and what it has heard. */
export function describeHttp({ url, until, everyMs }: HttpOpener, poll: ShownPoll | null): string {
  const condition = beginningOf(until, SHOWN)
  const asks = `Asks ${withoutQuery(new URL(url))} every ${writeDuration(everyMs)} until ${condition}${condition === until ? '' : '…'}`
  if (!poll) return `${asks}.`
  const { answer, answeredAt, nextAt } = poll
  const last = answeredAt === null ? '' : ` Its last answer, at ${iso(answeredAt)}: ${answer}`
  return `${asks}.${last} It is asked next at ${iso(nextAt)}.`
}
const iso = (time: string): string => new Date(time).toISOString()
