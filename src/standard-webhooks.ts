import { createHmac, timingSafeEqual } from 'node:crypto'

/** Standard Webhooks: how a message that one server posts to another is signed, and how the receiver judges it. */

/** The headers of a message. */
export const WEBHOOK_HEADERS = {
  id: 'webhook-id',
  timestamp: 'webhook-timestamp',
  signature: 'webhook-signature',
} as const

/** A message older or newer than this is refused, in seconds: nobody can send it again later. */
export const TOLERANCE_SECONDS = 300

/** True if the text is a key of 16 to 128 bytes in base64, with or without the prefix that marks it as a secret. */
export const isWebhookSecret = (secret: string): boolean => {
  const key = keyOf(secret)
  const bare = secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret
  return key.length >= 16 && key.length <= 128 && key.toString('base64').replace(/=+$/, '') === bare.replace(/=+$/, '')
}
export const WEBHOOK_SECRET_RULE = 'must be 16 to 128 random bytes in base64, with or without whsec_ before them'

export interface WebhookMessage {
  /** The same in each repetition. */
  readonly id: string
  /** When this attempt was made, in seconds since 1970. */
  readonly timestamp: number
  /** The body as it is sent, byte for byte. */
  readonly body: string | Uint8Array
}

/** The header `webhook-signature` of a message, with one signature for each secret: two while a secret is replaced. */
export const sign = (secrets: readonly string[], message: WebhookMessage): string =>
  secrets.map((secret) => `${VERSION}${digestOf(keyOf(secret), message).toString('base64')}`).join(' ')

export type WebhookVerdict =
  | { readonly ok: true; readonly id: string }
  | { readonly ok: false; readonly problem: 'INCOMPLETE' | 'TOO_OLD' | 'TOO_NEW' | 'NOT_SIGNED' }

export interface WebhookHeaders {
  readonly id: string | undefined
  readonly timestamp: string | undefined
  /** Signatures of any version, separated by blanks. */
  readonly signature: string | undefined
}

/**
 * Judges whether one of the signatures is made with one of the secrets. Each is compared with each in constant time.
 * @param nowMs milliseconds since 1970
 */
export function verify(
  secrets: readonly string[],
  { id, timestamp, signature }: WebhookHeaders,
  body: string | Uint8Array,
  nowMs: number,
): WebhookVerdict {
  if (!id || !signature || !timestamp || !SECONDS.test(timestamp)) return refused('INCOMPLETE')
  const age = Math.floor(nowMs / 1_000) - Number(timestamp)
  if (age > TOLERANCE_SECONDS) return refused('TOO_OLD')
  if (age < -TOLERANCE_SECONDS) return refused('TOO_NEW')
  const sent = signature
    .split(' ')
    .slice(0, MOST_SIGNATURES)
    .flatMap((each) => (each.startsWith(VERSION) ? [Buffer.from(each.slice(VERSION.length), 'base64')] : []))
    .filter((each) => each.length === DIGEST_BYTES)
  if (sent.length === 0) return refused('NOT_SIGNED')
  let isSigned = false
  // Anybody could sign with a key that is empty or short.
  for (const secret of secrets.filter(isWebhookSecret)) {
    const digest = digestOf(keyOf(secret), { id, timestamp: Number(timestamp), body })
    // No early end: how long it takes says nothing of the secrets.
    for (const each of sent) if (timingSafeEqual(each, digest)) isSigned = true
  }
  return isSigned ? { ok: true, id } : refused('NOT_SIGNED')
}

const VERSION = 'v1,'
/** SHA-256 has so many. */
const DIGEST_BYTES = 32
/** No leading zeros, so that the signed text is the header itself. */
const SECONDS = /^(0|[1-9]\d{0,11})$/
/** A sender has two secrets while it replaces one; what follows is not looked at. */
const MOST_SIGNATURES = 8

const refused = (problem: 'INCOMPLETE' | 'TOO_OLD' | 'TOO_NEW' | 'NOT_SIGNED'): WebhookVerdict => ({
  ok: false,
  problem,
})

const PREFIX = 'whsec_'
const keyOf = (secret: string): Buffer =>
  Buffer.from(secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret, 'base64')

const digestOf = (key: Buffer, { id, timestamp, body }: WebhookMessage): Buffer =>
  createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest()
