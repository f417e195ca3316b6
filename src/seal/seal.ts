import { createHash, createPublicKey, type Hash, hash, type KeyObject, sign, verify } from 'node:crypto'

/**
 * Seals of the log, for who writes and who verifies them. A seal has the hash of a block of changes, the leaf, and the signed head of the
 * tree of all leaves up to it. Its JSON is a line of `GET /log/seals`.
 */
export interface Seal {
  /** The leaves of the tree, with this one. */
  readonly size: number
  /** The id, the epoch and the common base of the log when it was sealed. */
  readonly log: string
  readonly epoch: number
  readonly base: number
  /** The sequences of the block. */
  readonly first: number
  readonly last: number
  /** In hexadecimal digits. */
  readonly leaf: string
  readonly root: string
  readonly at: string
  /** The id of the key that has signed it. */
  readonly key: string
  /** In base64. */
  readonly signature: string
}
export type Block = Pick<Seal, 'log' | 'epoch' | 'base' | 'first' | 'last'>

/**
 * Begins the hash of a block. The lines of its changes follow, each with its line break, as `GET /log` has them: a release that changes
 * the line takes another number here, and verifies both.
 */
export const hashOfBlock = ({ log, epoch, base, first, last }: Block): Hash =>
  createHash('sha256').update(`\0phaseline log block 1\n${log} ${epoch} ${base} ${first} ${last}\n`)

const signed = ({ size, log, epoch, base, first, last, leaf, root, at }: Omit<Seal, 'key' | 'signature'>): Buffer =>
  Buffer.from(`phaseline log head 1\n${log} ${epoch} ${base}\n${size} ${first} ${last}\n${leaf}\n${root}\n${at}\n`)

/** Names a key: the beginning of the hash of its public half. */
export const keyIdOf = (key: KeyObject): string => {
  const half = key.type === 'private' ? createPublicKey(key) : key
  return hash('sha256', half.export({ type: 'spki', format: 'der' })).slice(0, 16)
}

export const signSeal = (seal: Omit<Seal, 'key' | 'signature'>, key: KeyObject): Seal => ({
  ...seal,
  key: keyIdOf(key),
  signature: sign(null, signed(seal), key).toString('base64'),
})

/** True if the key has signed exactly this. */
export const isSignedBy = (seal: Seal, key: KeyObject): boolean =>
  verify(null, signed(seal), key, Buffer.from(seal.signature, 'base64'))

/** True if the key can sign seals, or verify them. */
export const isSealKey = (key: KeyObject): boolean => key.asymmetricKeyType === 'ed25519'

const HASH = /^[\da-f]{64}$/
const COUNTS = ['size', 'epoch', 'base', 'first', 'last'] as const
const TEXTS = ['log', 'at', 'key', 'signature'] as const
const MAX_TEXT = 128

/** Null: the line is no seal. */
export function parseSeal(line: string): Seal | null {
  let seal: Partial<Seal> | null = null
  try {
    seal = JSON.parse(line) as Partial<Seal> | null
  } catch {}
  if (typeof seal !== 'object' || seal === null) return null
  const { leaf, root } = seal
  const isSeal =
    COUNTS.every((name) => Number.isSafeInteger(seal[name])) &&
    TEXTS.every((name) => typeof seal[name] === 'string' && seal[name].length <= MAX_TEXT) &&
    [leaf, root].every((text) => typeof text === 'string' && HASH.test(text))
  return isSeal ? (seal as Seal) : null
}
