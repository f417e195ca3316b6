/**
 * CloudEvents over HTTP. Each mode becomes the event in its JSON form, so that expressions see the same whatever the sender chose.
 * An event without what each must have is refused: an id that is made up here would make every repetition another event.
 */

export type CloudEvent = Readonly<Record<string, unknown>> & {
  readonly id: string
  readonly source: string
  readonly type: string
}
export type ReadEvents =
  | { readonly ok: true; readonly events: readonly CloudEvent[] }
  | { readonly ok: false; readonly message: string }

/** Events of a batch. */
const MAX_BATCH = 100

const STRUCTURED = 'application/cloudevents'
const BATCH = 'application/cloudevents-batch'

/** @param parse throws a SyntaxError */
export function readCloudEvents(
  headers: Readonly<Record<string, string>>,
  body: Buffer,
  { text, parse }: { text(body: Buffer): string | null; parse(text: string): unknown },
): ReadEvents {
  const mediaType = mediaTypeOf(headers)
  const isBatch = mediaType.startsWith(BATCH)
  if (!isBatch && !mediaType.startsWith(STRUCTURED)) return readBinary(headers, body, { text, parse })
  if (!mediaType.endsWith('+json')) return refused(`${mediaType} is a form that is not read here: send JSON.`)
  const written = text(body)
  if (written === null) return refused('The body is not UTF-8 text.')
  let json: unknown
  try {
    json = parse(written)
  } catch (error) {
    if (error instanceof SyntaxError) return refused('The body is not JSON.')
    throw error
  }
  if (!isBatch) return judged([json])
  if (!Array.isArray(json)) return refused('A batch is a JSON array of events.')
  if (json.length > MAX_BATCH) return refused(`A batch has at most ${MAX_BATCH} events.`)
  return judged(json)
}

export const mediaTypeOf = (headers: Readonly<Record<string, string>>): string =>
  (headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? ''

const refused = (message: string): ReadEvents => ({ ok: false, message })

/** Attributes stand in headers `ce-…`, encoded as in URLs, and the body is the data. */
function readBinary(
  headers: Readonly<Record<string, string>>,
  body: Buffer,
  { text, parse }: { text(body: Buffer): string | null; parse(text: string): unknown },
): ReadEvents {
  const event: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(headers))
    if (name.startsWith('ce-') && name !== 'ce-data') event[name.slice(3)] = decoded(value)
  if (Object.keys(event).length === 0)
    return refused(
      'This is no CloudEvent: it has neither headers ce-… nor a content type application/cloudevents+json.',
    )
  const contentType = headers['content-type']
  if (contentType !== undefined) event.datacontenttype = contentType
  if (body.length > 0) {
    const written = text(body)
    const mediaType = mediaTypeOf(headers)
    const isJson = mediaType === 'application/json' || mediaType.endsWith('+json')
    if (written === null) event.data_base64 = body.toString('base64')
    else if (isJson)
      try {
        event.data = parse(written)
      } catch (error) {
        if (error instanceof SyntaxError) return refused('The data is not JSON, although its content type says so.')
        throw error
      }
    else event.data = written
  }
  return judged([event])
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value)
  } catch {
    return value
  }
}

function judged(events: readonly unknown[]): ReadEvents {
  for (const [i, event] of events.entries()) {
    const problem = problemOf(event)
    if (problem) return refused(events.length > 1 ? `Event ${i + 1} of the batch: ${problem}` : problem)
  }
  return { ok: true, events: events as readonly CloudEvent[] }
}

const isJsonObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function problemOf(event: unknown): string | null {
  if (!isJsonObject(event)) return 'A CloudEvent is a JSON object.'
  const missing = ['id', 'source', 'type', 'specversion'].find(
    (name) => typeof event[name] !== 'string' || !event[name],
  )
  if (missing) return `The CloudEvent has no ${missing}, which each must have.`
  if (!String(event.specversion).startsWith('1.'))
    return `CloudEvents ${String(event.specversion).slice(0, 20)} is not read here: send version 1.0.`
  return 'data' in event && 'data_base64' in event ? 'The CloudEvent has both data and data_base64.' : null
}
