import { createCipheriv, createDecipheriv } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'

/**
 * The sign-in of a browser has two halves: a cookie with the sealed token, which no script reads, and the page key that opens it, which only
 * pages of one origin have and send as their bearer token. A browser adds the cookie to whatever it sends to this host, and a page of
 * another origin has no key: so the cookie alone authenticates nothing, at no door.
 */

/** A page key in place of a token: 32 random bytes. */
const PAGE_KEY = /^pl_page_([\w-]{43})$/
const bytesOf = (pageKey: string): Buffer | null => {
  const [, text] = PAGE_KEY.exec(pageKey) ?? []
  return text === undefined ? null : Buffer.from(text, 'base64url')
}

const CIPHER = 'aes-256-gcm'
export const NONCE_BYTES = 12
const TAG_BYTES = 16

/** Null: this is no page key. */
export function sealToken(token: string, pageKey: string, nonce: Uint8Array): string | null {
  const key = bytesOf(pageKey)
  if (!key) return null
  const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES })
  const ciphertext = Buffer.concat([cipher.update(token, 'utf8'), cipher.final()])
  return Buffer.concat([nonce, ciphertext, cipher.getAuthTag()]).toString('base64url')
}

function openToken(sealed: string, key: Buffer): string | null {
  const bytes = Buffer.from(sealed, 'base64url')
  if (bytes.length <= NONCE_BYTES + TAG_BYTES) return null
  const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES })
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES))
  try {
    const token = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES))
    return Buffer.concat([token, decipher.final()]).toString('utf8')
  } catch {
    // Another sign-in has replaced the cookie, or it was changed.
    return null
  }
}

/** The token that a bearer stands for: itself, or for a page key the one in its cookie. Null: no cookie of that key came along. */
export function tokenBehind(bearer: string | null, sealed: () => readonly string[]): string | null {
  const key = bearer === null ? null : bytesOf(bearer)
  if (!key) return bearer
  for (const each of sealed()) {
    const token = openToken(each, key)
    if (token !== null) return token
  }
  return null
}

/** Characters of a cookie's value: browsers keep 4,096 of name and value. */
const PART = 3_800
/** The longest token, sealed, is in three. */
const PARTS = 3
const SEALED = new RegExp(`^[\\w-]{1,${PARTS * PART}}$`)

/** The address by which a browser calls. */
export interface CalledAs {
  readonly host: string
  /** Over https, be it that of a proxy. */
  readonly isSecure: boolean
}

/**
 * Browsers send a host's cookies to all of its ports, so the names have the port. Neither a page without encryption nor another host sets
 * one with this prefix.
 */
function namesOf({ host, isSecure }: CalledAs): readonly string[] {
  const [, port] = /:(\d+)$/.exec(host) ?? []
  const name = `${isSecure ? '__Host-' : ''}phaseline${port === undefined ? '' : `-${port}`}`
  return Array.from({ length: PARTS }, (_, part) => (part === 0 ? name : `${name}.${part}`))
}

/** The sealed tokens of a request: at most one of a page with encryption, and one of a page without. */
export function sealedIn({ cookie, host = '' }: Pick<IncomingHttpHeaders, 'cookie' | 'host'>): readonly string[] {
  if (cookie === undefined) return []
  const values = new Map<string, string>()
  for (const pair of cookie.split(';')) {
    const [name = '', value = ''] = pair.split('=', 2).map((text) => text.trim())
    if (!values.has(name)) values.set(name, value)
  }
  return [true, false].flatMap((isSecure) => {
    const sealed = namesOf({ host, isSecure })
      .map((name) => values.get(name) ?? '')
      .join('')
    return SEALED.test(sealed) ? [sealed] : []
  })
}

/**
 * Values of Set-Cookie.
 * @param sealed empty: the cookies end
 * @param maxAgeS null: they end with the browser
 */
export function cookiesFor(as: CalledAs, sealed: string, maxAgeS: number | null): readonly string[] {
  return namesOf(as).map((name, part) => {
    const value = sealed.slice(part * PART, (part + 1) * PART)
    const age = value === '' ? 0 : maxAgeS
    const attributes = ['Path=/', 'HttpOnly', 'SameSite=Strict', ...(as.isSecure ? ['Secure'] : [])]
    return [`${name}=${value}`, ...attributes, ...(age === null ? [] : [`Max-Age=${age}`])].join('; ')
  })
}
