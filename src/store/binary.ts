/**
 * Array parameters in Postgres's binary format, which spares both sides to print and parse text. A type without a fixed
 * OID, such as an enum, is sent as another type.
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
  /** The element type's OID. */
  readonly oid: number
  /** Bytes of a value; null: it varies, and `size` is its upper bound. */
  readonly bytes: number | null
  readonly size: (value: never) => number
  /** Returns the number of bytes it wrote. */
  readonly write: (value: never, into: Buffer, at: number) => number
}

const fixed = (oid: number, bytes: number, write: Codec['write']): Codec => ({ oid, bytes, size: () => bytes, write })
const putBigint = (value: number, into: Buffer, at: number): number => {
  into.writeInt32BE(Math.floor(value / 2 ** 32), at)
  into.writeUInt32BE(value >>> 0, at + 4)
  return 8
}
/** From the epoch of Unix to that of Postgres. */
const EPOCH_MS = 946_684_800_000
const JSONB_VERSION = 1
/** The most bytes that one UTF-16 code unit takes in UTF-8. */
const UTF8 = 3

const CODECS: Readonly<Record<BinaryType, Codec>> = {
  uuid: fixed(2950, 16, putUuid),
  integer: fixed(23, 4, (value: number, into, at) => into.writeInt32BE(value, at) - at),
  smallint: fixed(21, 2, (value: number, into, at) => into.writeInt16BE(value, at) - at),
  bigint: fixed(20, 8, putBigint),
  boolean: fixed(16, 1, (value: boolean, into, at) => into.writeUInt8(value ? 1 : 0, at) - at),
  // In microseconds, which stay safe integers for the next two centuries.
  timestamptz: fixed(1184, 8, (value: Date, into, at) => putBigint((value.getTime() - EPOCH_MS) * 1_000, into, at)),
  text: {
    oid: 25,
    bytes: null,
    size: (value: string) => value.length * UTF8,
    write: (value: string, into, at) => into.write(value, at),
  },
  jsonb: {
    oid: 3802,
    bytes: null,
    size: (value: string) => value.length * UTF8 + 1,
    write(value: string, into, at) {
      into[at] = JSONB_VERSION
      return 1 + into.write(value, at + 1)
    },
  },
  bytea: {
    oid: 17,
    bytes: null,
    size: (value: Buffer) => value.length,
    write: (value: Buffer, into, at) => value.copy(into, at),
  },
}

/** Bytes of the buffer that arrays share: a larger one is given back after its use. */
const BUFFER_BYTES = 65_536
const MAX_BUFFER_BYTES = 4 * 1024 * 1024
let buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES)
function ensure(bytes: number, used: number): void {
  if (bytes <= buffer.length) return
  const larger = Buffer.allocUnsafeSlow(bytes * 2)
  buffer.copy(larger, 0, 0, used)
  buffer = larger
}

const HEADER = 20
const LENGTH = 4

/** A one-dimensional array with lower bound 1. Null and undefined are null; JSON values are passed as text. */
export function binaryArray<R>(type: BinaryType, rows: readonly R[], of: (row: R) => unknown): Buffer {
  const { oid, bytes, size, write } = CODECS[type]
  let hasNull = 0
  let at = HEADER
  if (bytes !== null) ensure(HEADER + rows.length * (LENGTH + bytes), 0)
  for (const row of rows) {
    const value = of(row) as never
    if (value === null || value === undefined) {
      ensure(at + LENGTH, at)
      buffer.writeInt32BE(-1, at)
      hasNull = 1
      at += LENGTH
      continue
    }
    if (bytes === null) ensure(at + LENGTH + size(value), at)
    const written = write(value, buffer, at + LENGTH)
    buffer.writeInt32BE(written, at)
    at += LENGTH + written
  }
  buffer.writeInt32BE(1, 0)
  buffer.writeInt32BE(hasNull, 4)
  buffer.writeInt32BE(oid, 8)
  buffer.writeInt32BE(rows.length, 12)
  buffer.writeInt32BE(1, 16)
  const array = Buffer.from(buffer.subarray(0, at))
  if (buffer.length > MAX_BUFFER_BYTES) buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES)
  return array
}

/** An array of ids, taken as they are. */
export const binaryUuids = (ids: readonly string[]): Buffer => binaryArray('uuid', ids, (id) => id)

const DIGITS = new Uint8Array(128)
for (let digit = 0; digit < 16; digit++) {
  DIGITS[digit.toString(16).charCodeAt(0)] = digit
  DIGITS[digit.toString(16).toUpperCase().charCodeAt(0)] = digit
}

/** Expects the form with 8-4-4-4-12 digits. */
function putUuid(text: string, into: Buffer, at: number): number {
  if (text.length !== 36) throw new TypeError('not a uuid')
  let to = at
  for (let i = 0; i < 36; i += 2) {
    if (i === 8 || i === 13 || i === 18 || i === 23) i++
    into[to++] = ((DIGITS[text.charCodeAt(i)] as number) << 4) | (DIGITS[text.charCodeAt(i + 1)] as number)
  }
  return 16
}
