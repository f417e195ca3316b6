import { createCipheriv, createDecipheriv, createHash, createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'
import type { System } from '../core/ports/system.ts'

/**
 * Secrets are stored sealed: AES-256-GCM with a key that the database does not have. A sealed text is one byte of format,
 * four that identify its key, a random nonce, the ciphertext and its tag. It opens only for the place that it was sealed for.
 */
export interface Sealing {
  /** False: there is no key. Sealed texts stay as they are. */
  readonly canSeal: boolean
  /** Ids of our keys, as in `keyIdOf`, the sealing key first. */
  readonly keyIds: readonly string[]
  /** Throws when there is no key. */
  seal(place: SecretPlace, text: string): Buffer
  /** Null: its key is not among ours, it was changed, or it belongs to another place. */
  open(place: SecretPlace, sealed: Uint8Array): string | null
  /** Under a key of its own for each purpose; null: there is no key. */
  sign(purpose: string, data: Uint8Array): Buffer | null
  /** True if one of our keys has signed it. */
  verify(purpose: string, data: Uint8Array, signature: Uint8Array): boolean
}

/** The owner of a secret. Its copies, such as those of events, have the same place. */
export interface SecretPlace {
  readonly projectId: string
  readonly name: string
}

const FORMAT = 1
const CIPHER = 'aes-256-gcm'
const KEY_ID_BYTES = 4
const NONCE_BYTES = 12
const TAG_BYTES = 16
const HEADER_BYTES = 1 + KEY_ID_BYTES
/** The start of the ciphertext. No two sealed texts are the same up to there. */
export const NONCE_END = HEADER_BYTES + NONCE_BYTES
/** More than the contents of a sealed text. */
export const SEALED_OVERHEAD = NONCE_END + TAG_BYTES
const KEY_BYTES = 32

/** The first key seals and signs, all of them open and verify: so a key can be replaced while it is in use. */
export function createSealing(keys: readonly Uint8Array[], { secret }: Pick<System, 'secret'>): Sealing {
  const known = keys.map((key) => ({ key, header: headerOf(key) }))
  const first = known[0]
  return {
    canSeal: first !== undefined,
    keyIds: known.map(({ key }) => keyIdOf(key)),
    seal(place, text) {
      if (!first) throw new Error('There is no key to seal with.')
      const nonce = secret(NONCE_BYTES)
      const cipher = createCipheriv(CIPHER, first.key, nonce, { authTagLength: TAG_BYTES })
      cipher.setAAD(boundTo(first.header, place))
      const ciphertext = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
      return Buffer.concat([first.header, nonce, ciphertext, cipher.getAuthTag()])
    },
    open(place, sealed) {
      if (sealed.byteLength < SEALED_OVERHEAD) return null
      const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength)
      const header = bytes.subarray(0, HEADER_BYTES)
      // Two keys may have the same short id.
      for (const { key } of known.filter((one) => one.header.equals(header))) {
        const text = openWith(key, header, place, bytes)
        if (text !== null) return text
      }
      return null
    },
    sign: (purpose, data) => (first ? signWith(first.key, purpose, data) : null),
    verify: (purpose, data, signature) =>
      known.some(({ key }) => {
        const right = signWith(key, purpose, data)
        return right.byteLength === signature.byteLength && timingSafeEqual(right, signature)
      }),
  }
}

function openWith(key: Uint8Array, header: Buffer, place: SecretPlace, bytes: Buffer): string | null {
  const nonce = bytes.subarray(HEADER_BYTES, NONCE_END)
  const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES })
  decipher.setAAD(boundTo(header, place))
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES))
  try {
    const text = decipher.update(bytes.subarray(NONCE_END, -TAG_BYTES))
    return Buffer.concat([text, decipher.final()]).toString('utf8')
  } catch {
    // The reason is not returned: an attacker could learn from it.
    return null
  }
}

function headerOf(key: Uint8Array): Buffer {
  const id = createHash('sha256').update(key).digest().subarray(0, KEY_ID_BYTES)
  return Buffer.concat([Buffer.from([FORMAT]), id])
}
/** Eight hexadecimal digits that reveal nothing of the key. */
export const keyIdOf = (key: Uint8Array): string => headerOf(key).toString('hex', 1)
/** Neither part can hold the separator. */
const boundTo = (header: Buffer, { projectId, name }: SecretPlace): Buffer =>
  Buffer.concat([header, Buffer.from(`${projectId}\0${name}`, 'utf8')])

function signWith(key: Uint8Array, purpose: string, data: Uint8Array): Buffer {
  const derived = Buffer.from(hkdfSync('sha256', key, Buffer.alloc(0), `phaseline ${purpose}`, KEY_BYTES))
  return createHmac('sha256', derived).update(data).digest()
}
