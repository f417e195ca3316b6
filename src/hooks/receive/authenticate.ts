import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import type { HookFormat } from '../../core/hook.ts'
import type { HookHeaders } from '../../core/ports/hooks.ts'
import { verify, WEBHOOK_HEADERS } from '../../standard-webhooks.ts'
import type { Signature } from '../rules/spec.ts'

interface NamedSecret {
  readonly name: string
  readonly value: string
}
interface Judged {
  readonly format: HookFormat
  /** Null: a token is sent. */
  readonly signature: Signature | null
  readonly headers: HookHeaders
  readonly body: Buffer
  readonly now: Date
}

/** The name of the secret by which a request is authentic; null: it is not. All are compared, in constant time. */
export function authenticSecret(secrets: readonly NamedSecret[], request: Judged): string | null {
  let found: string | null = null
  for (const { name, value } of secrets) if (isAuthentic(value, request) && found === null) found = name
  return found
}

function isAuthentic(secret: string, { format, signature, headers, body, now }: Judged): boolean {
  if (format === 'STANDARD_WEBHOOKS') {
    const { id, timestamp, signature: signatures } = WEBHOOK_HEADERS
    const sent = { id: headers[id], timestamp: headers[timestamp], signature: headers[signatures] }
    return verify([secret], sent, body, now.getTime()).ok
  }
  if (signature) return isSigned(secret, signature, headers[signature.header], body)
  return isSame(format === 'GITLAB' ? headers['x-gitlab-token'] : bearerOf(headers.authorization), secret)
}

const bearerOf = (authorization: string | undefined): string | undefined =>
  /^Bearer +(\S.*)$/i.exec(authorization ?? '')?.[1]

const BYTES: Readonly<Record<Signature['algorithm'], number>> = { SHA1: 20, SHA256: 32, SHA512: 64 }

function isSigned(
  secret: string,
  { algorithm, encoding, prefix }: Signature,
  sent: string | undefined,
  body: Buffer,
): boolean {
  if (!sent?.startsWith(prefix)) return false
  const given = Buffer.from(sent.slice(prefix.length).trim(), encoding === 'HEX' ? 'hex' : 'base64')
  // Without one, nothing is hashed.
  return (
    given.length === BYTES[algorithm] && timingSafeEqual(given, createHmac(algorithm, secret).update(body).digest())
  )
}

/** Digests have one length, so that how long it takes says nothing of the secret's. */
function isSame(sent: string | undefined, secret: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest()
  return sent !== undefined && timingSafeEqual(digest(sent), digest(secret))
}
