import type { HookFormat } from '../../core/hook.ts'
import { mediaTypeOf, readCloudEvents } from './cloud-events.ts'

/** Reads the deliveries in a request. */

export interface ReadDelivery {
  /** As expressions see it: JSON, or text. */
  readonly body: unknown
  /** The payload, unless the hook says otherwise. */
  readonly payload: string
  /** The id that the format has for it; null: none. */
  readonly deliveryId: string | null
  /** Equal for repetitions alone; null: they are not noticed. */
  readonly onceKey: string | null
  /** As it is kept, to be played again: headers and body of a request with this delivery alone. */
  readonly kept: { readonly contentType: string | null; readonly body: Buffer }
  /** Senders ask whether somebody listens, and nothing has happened. */
  readonly isPing: boolean
}
export type ReadRequest =
  | { readonly ok: true; readonly deliveries: readonly ReadDelivery[] }
  | { readonly ok: false; readonly message: string }

export interface RequestReader {
  readonly format: HookFormat
  /** Null: it is not UTF-8. */
  text(body: Buffer): string | null
  /** Throws a SyntaxError. */
  parse(text: string): unknown
  digest(body: Buffer): string
}

export function readRequest(
  reader: RequestReader,
  headers: Readonly<Record<string, string>>,
  body: Buffer,
): ReadRequest {
  if (reader.format === 'CLOUDEVENTS') return ofCloudEvents(reader, headers, body)
  const sent = reader.text(body)
  if (sent === null) return { ok: false, message: 'The body is not UTF-8 text.' }
  const mediaType = mediaTypeOf(headers)
  const isForm = mediaType === 'application/x-www-form-urlencoded'
  // GitHub has a setting by which it sends the JSON as a field of a form.
  const payload = reader.format === 'GITHUB' && isForm ? new URLSearchParams(sent).get('payload') : sent
  if (payload === null) return { ok: false, message: 'The form has no field payload.' }
  const read = parsed(reader, payload)
  // Many senders of JSON call it text, but a text of digits is no number.
  const json = mediaType.startsWith('text/') && !(read.ok && isObject(read.value)) ? NO_JSON : read
  if (!json.ok && reader.format !== 'GENERIC') return { ok: false, message: 'The body is not JSON.' }
  return {
    ok: true,
    deliveries: [
      {
        body: json.ok ? json.value : isForm ? Object.fromEntries(new URLSearchParams(sent)) : payload,
        payload,
        ...idOf(reader, headers, body),
        kept: { contentType: headers['content-type'] ?? null, body },
        isPing: reader.format === 'GITHUB' && headers['x-github-event'] === 'ping',
      },
    ],
  }
}

/** Hooks of GitLab that an event of GitLab's own hooks has caused have one event id, so the body tells them apart. */
function idOf(
  { format, digest }: RequestReader,
  headers: Readonly<Record<string, string>>,
  body: Buffer,
): Pick<ReadDelivery, 'deliveryId' | 'onceKey'> {
  const named = (header: string) => headers[header] || null
  const is = (id: string | null) => ({ deliveryId: id, onceKey: id })
  if (format === 'GITHUB') return is(named('x-github-delivery'))
  if (format === 'STANDARD_WEBHOOKS') return is(named('webhook-id'))
  if (format !== 'GITLAB') return is(null)
  const key = named('idempotency-key')
  const event = named('x-gitlab-event-uuid')
  return key || !event ? is(key) : { deliveryId: event, onceKey: `${event} ${digest(body)}` }
}

function ofCloudEvents(reader: RequestReader, headers: Readonly<Record<string, string>>, body: Buffer): ReadRequest {
  const read = readCloudEvents(headers, body, reader)
  if (!read.ok) return read
  return {
    ok: true,
    deliveries: read.events.map((event) => {
      const payload = JSON.stringify(event)
      return {
        body: event,
        payload,
        deliveryId: `${event.source} ${event.id}`,
        onceKey: JSON.stringify([event.source, event.id]),
        kept: { contentType: 'application/cloudevents+json', body: Buffer.from(payload) },
        isPing: false,
      }
    }),
  }
}

const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null

type Parsed = { readonly ok: true; readonly value: unknown } | { readonly ok: false }
const NO_JSON: Parsed = { ok: false }

function parsed({ parse }: RequestReader, text: string): Parsed {
  try {
    return { ok: true, value: parse(text) }
  } catch (error) {
    if (error instanceof SyntaxError) return NO_JSON
    throw error
  }
}
