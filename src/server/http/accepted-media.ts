export const GRAPHQL_RESPONSE = 'application/graphql-response+json'
export const JSON_TYPE = 'application/json'
export const EVENTS = 'text/event-stream'
export type Media = typeof GRAPHQL_RESPONSE | typeof JSON_TYPE | typeof EVENTS

const ANY: readonly string[] = ['*/*']

/** The client's media types, by preference. */
function rangesOf(accept: string | undefined): readonly string[] {
  if (accept === undefined || accept === '') return ANY
  if (!/[,;]/.test(accept)) return [accept.trim().toLowerCase()]
  return accept
    .toLowerCase()
    .split(',')
    .map((part) => {
      const [range = '', ...params] = part.split(';').map((text) => text.trim())
      return { range, weight: Number(params.find((param) => param.startsWith('q='))?.slice(2) ?? 1) }
    })
    .filter(({ weight }) => weight > 0)
    .sort((a, b) => b.weight - a.weight)
    .map(({ range }) => range)
}

const takesJson = (range: string): boolean =>
  range === GRAPHQL_RESPONSE || range === JSON_TYPE || range === 'application/*' || range === '*/*'
const takesEvents = (range: string): boolean => range === EVENTS || range === 'text/*' || range === '*/*'

/** The form in which a client takes an operation; null: in none that there is. A subscription has but one. */
export function mediaOf(accept: string | undefined, isStream: boolean): Media | null {
  const ranges = rangesOf(accept)
  if (isStream) return ranges.some(takesEvents) ? EVENTS : null
  const first = ranges.find((range) => takesJson(range) || takesEvents(range))
  if (first === undefined) return null
  if (!takesJson(first)) return EVENTS
  return ranges.includes(GRAPHQL_RESPONSE) ? GRAPHQL_RESPONSE : JSON_TYPE
}
