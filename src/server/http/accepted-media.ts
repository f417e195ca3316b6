import { EVENTS, GRAPHQL_RESPONSE, JSON_TYPE } from '../endpoints/endpoints.ts'

export type Media = typeof GRAPHQL_RESPONSE | typeof JSON_TYPE | typeof EVENTS

interface Range {
  readonly range: string
  /** From 0, never, to 1. */
  readonly weight: number
}
const ANY: readonly Range[] = [{ range: '*/*', weight: 1 }]

/** The client's media types, by preference. */
function rangesOf(accept: string | undefined): readonly Range[] {
  if (accept === undefined || accept === '') return ANY
  if (!/[,;]/.test(accept)) return [{ range: accept.trim().toLowerCase(), weight: 1 }]
  return accept
    .toLowerCase()
    .split(',')
    .map((part) => {
      const [range = '', ...params] = part.split(';').map((text) => text.trim())
      return { range, weight: Number(params.find((param) => param.startsWith('q='))?.slice(2) ?? 1) }
    })
    .sort((a, b) => b.weight - a.weight)
}

/** By the range that names the type most closely (RFC 9110, 12.5.1). */
function weightOf(type: Media, ranges: readonly Range[]): number {
  const [family] = type.split('/')
  const named = [type, `${family}/*`, '*/*'].map((name) => ranges.find(({ range }) => range === name))
  return named.find((range) => range !== undefined)?.weight ?? 0
}

const takesJson = (range: string): boolean =>
  range === GRAPHQL_RESPONSE || range === JSON_TYPE || range === 'application/*' || range === '*/*'
const takesEvents = (range: string): boolean => range === EVENTS || range === 'text/*' || range === '*/*'

/** The form in which a client takes an operation; null: in none that there is. A subscription has but one. */
export function mediaOf(accept: string | undefined, isStream: boolean): Media | null {
  const ranges = rangesOf(accept)
  const taken = ranges.filter(({ weight }) => weight > 0)
  if (isStream) return taken.some(({ range }) => takesEvents(range)) ? EVENTS : null
  const first = taken.find(({ range }) => takesJson(range) || takesEvents(range))
  if (first === undefined) return null
  if (!takesJson(first.range)) return EVENTS
  const [response, json] = [weightOf(GRAPHQL_RESPONSE, ranges), weightOf(JSON_TYPE, ranges)]
  const isNamed = ranges.some(({ range }) => range === GRAPHQL_RESPONSE)
  return response > json || (response === json && isNamed) ? GRAPHQL_RESPONSE : JSON_TYPE
}
