import { type AuditCursor, decodeAuditCursor, encodeAuditCursor } from '../../core/audit.ts'
import { parseDateTime } from '../../core/date-time.ts'
import { isPortableText } from '../../core/portable.ts'
import type { LogCursor } from '../../core/ports/log.ts'
import { decodeCursor, encodeCursor, isSequence } from '../../log/cursor.ts'
import type { CursorCodec } from './connection.ts'
import { isUuid } from './ids.ts'

type Part = 'uuid' | 'int' | 'text' | 'time'
type PartValue<P> = P extends 'int' ? number : string
type Values<P extends readonly Part[]> = { readonly [K in keyof P]: PartValue<P[K]> }

const IS: Readonly<Record<Part, (value: unknown) => boolean>> = {
  uuid: (value) => typeof value === 'string' && isUuid(value),
  int: (value) => typeof value === 'number' && Number.isSafeInteger(value) && Math.abs(value) < 2 ** 53,
  text: (value) => typeof value === 'string' && isPortableText(value),
  time: (value) => typeof value === 'string' && parseDateTime(value) !== null,
}

/** A cursor of several values, opaque to clients. */
export function cursorOf<const P extends readonly Part[]>(...parts: P): CursorCodec<Values<P>> {
  return {
    encode: (position) => Buffer.from(JSON.stringify(position)).toString('base64url'),
    decode: (cursor) => {
      const values = parse(Buffer.from(cursor, 'base64url').toString())
      const fits =
        Array.isArray(values) && values.length === parts.length && parts.every((part, i) => IS[part](values[i]))
      return fits ? (values as unknown as Values<P>) : undefined
    },
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const single = (codec: CursorCodec<readonly [string]>): CursorCodec<string> => ({
  encode: (position) => codec.encode([position]),
  decode: (cursor) => codec.decode(cursor)?.[0],
})

/** A cursor of a single value, shown as it is. */
export const plainCursor = (isValid: (cursor: string) => boolean): CursorCodec<string> => ({
  encode: (position) => position,
  decode: (cursor) => (isValid(cursor) ? cursor : undefined),
})

const isNumeral = (text: string): boolean => /^(0|[1-9]\d{0,15})$/.test(text) && isSequence(Number(text))
/** A position in the log. Older clients kept a numeral. */
export const logCursor: CursorCodec<LogCursor> = {
  encode: encodeCursor,
  decode: (cursor) => (isNumeral(cursor) ? { sequence: Number(cursor), mark: null } : decodeCursor(cursor)),
}
/** A place in the chain of the audit. */
export const auditCursor: CursorCodec<AuditCursor> = { encode: encodeAuditCursor, decode: decodeAuditCursor }
/** A position among the lines of output. */
export const lineCursor = plainCursor((text) => /^(0|[1-9]\d{0,17})$/.test(text))
/** A position among the lines of all objects. */
export const outputCursor: CursorCodec<number> = {
  encode: (seq) => String(seq),
  decode: (cursor) => (isNumeral(cursor) ? Number(cursor) : undefined),
}
export const nameCursor = single(cursorOf('text'))
export const uuidCursor = single(cursorOf('uuid'))
export const siblingCursor = cursorOf('int', 'uuid')
export const lockCursor = cursorOf('text', 'int', 'uuid')
