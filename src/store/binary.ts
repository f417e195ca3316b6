/**
 * Array parameters in Postgres's binary form, which neither side has to write out and read in as text. Types without a
 * number of their own, such as enums, travel as another one.
 */
export type BinaryType =
  | 'uuid'
  | 'integer'
  | 'smallint'
  | 'bigint'
  | 'boolean'
  | 'timestamptz'
  | 'text'
  | 'jsonb'
  | 'bytea'

interface Codec {
  /** Of Postgres's catalogue. */
  readonly oid: number
  /** At most so many bytes. */
  size(value: unknown): number
  /** Returns how many bytes it wrote. */
  write(value: unknown, into: Buffer, at: number): number
}

const fixed = (oid: number, bytes: number, put: (value: unknown, into: Buffer, at: number) => void): Codec => ({
  oid,
  size: () => bytes,
  write(value, into, at) {
    put(value, into, at)
    return bytes
  },
})
const putBigint = (value: number, into: Buffer, at: number): void => {
  into.writeInt32BE(Math.floor(value / 2 ** 32), at)
  into.writeUInt32BE(value >>> 0, at + 4)
}
/** Between the epochs of Unix and of Postgres. */
const EPOCH_MS = 946_684_800_000
const JSONB_VERSION = 1

const CODECS: Readonly<Record<BinaryType, Codec>> = {
  uuid: fixed(2950, 16, (value, into, at) => putUuid(value as string, into, at)),
  integer: fixed(23, 4, (value, into, at) => into.writeInt32BE(value as number, at)),
  smallint: fixed(21, 2, (value, into, at) => into.writeInt16BE(value as number, at)),
  bigint: fixed(20, 8, (value, into, at) => putBigint(value as number, into, at)),
  boolean: fixed(16, 1, (value, into, at) => into.writeUInt8(value === true ? 1 : 0, at)),
  // In microseconds, which stay safe integers for the next two centuries.
  timestamptz: fixed(1184, 8, (value, into, at) => putBigint(((value as Date).getTime() - EPOCH_MS) * 1_000, into, at)),
  text: {
    oid: 25,
    size: (value) => (value as string).length * 3,
    write: (value, into, at) => into.write(value as string, at),
  },
  jsonb: {
    oid: 3802,
    size: (value) => (value as string).length * 3 + 1,
    write(value, into, at) {
      into[at] = JSONB_VERSION
      return 1 + into.write(value as string, at + 1)
    },
  },
  bytea: {
    oid: 17,
    size: (value) => (value as Buffer).length,
    write: (value, into, at) => (value as Buffer).copy(into, at),
  },
}

let scratch = Buffer.allocUnsafe(65_536)
function ensure(bytes: number, used: number): void {
  if (bytes <= scratch.length) return
  const larger = Buffer.allocUnsafe(bytes * 2)
  scratch.copy(larger, 0, 0, used)
  scratch = larger
}

const HEADER = 20

/** One dimension, from 1. Null and undefined are null; JSON values come as text. */
export function binaryArray(type: BinaryType, values: readonly unknown[]): Buffer {
  const codec = CODECS[type]
  let hasNull = 0
  let at = HEADER
  for (const value of values) {
    if (value === null || value === undefined) {
      ensure(at + 4, at)
      scratch.writeInt32BE(-1, at)
      hasNull = 1
      at += 4
      continue
    }
    ensure(at + 4 + codec.size(value), at)
    const bytes = codec.write(value, scratch, at + 4)
    scratch.writeInt32BE(bytes, at)
    at += 4 + bytes
  }
  for (const [i, word] of [1, hasNull, codec.oid, values.length, 1].entries()) scratch.writeInt32BE(word, i * 4)
  return Buffer.from(scratch.subarray(0, at))
}

const DIGITS = new Uint8Array(128)
for (let digit = 0; digit < 16; digit++) {
  DIGITS[digit.toString(16).charCodeAt(0)] = digit
  DIGITS[digit.toString(16).toUpperCase().charCodeAt(0)] = digit
}

/** 8-4-4-4-12 digits, as Postgres writes them too. */
function putUuid(text: string, into: Buffer, at: number): void {
  if (text.length !== 36) throw new TypeError('not a uuid')
  let to = at
  for (let i = 0; i < 36; i += 2) {
    if (i === 8 || i === 13 || i === 18 || i === 23) i++
    into[to++] = ((DIGITS[text.charCodeAt(i)] as number) << 4) | (DIGITS[text.charCodeAt(i + 1)] as number)
  }
}
