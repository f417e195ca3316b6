import { LIMITS } from '../../core/limits.ts'

/** Judges the text of a request while it arrives, before parsing costs time and memory. */

/** Code that walks deeper values recursively overflows its stack. Specs are at most 64 deep. */
export const MAX_NESTING = 256

export interface TextProblem {
  readonly code: 'TOO_COMPLEX' | 'BAD_USER_INPUT'
  readonly message: string
}

const TOO_DEEP: TextProblem = {
  code: 'TOO_COMPLEX',
  message: `The request is nested more than ${MAX_NESTING} levels deep: store deeper data as a string.`,
}

/** Bytes. An unknown key is compared with the known ones, for a suggestion, and told in the error. */
const MAX_KEY = 4_096
const LONG_KEY: TextProblem = {
  code: 'BAD_USER_INPUT',
  message: `A key of the request has more than ${MAX_KEY} bytes: long texts belong in values.`,
}

/** UTF-16 code units of a text, however they are escaped. Nothing that is accepted anywhere has more. */
export const MAX_TEXT = LIMITS.json.max
const LONG_TEXT: TextProblem = {
  code: 'BAD_USER_INPUT',
  message: `A text of the request has more than ${MAX_TEXT} characters: no argument takes as much.`,
}

/** Bytes of JSON that are parsed at one go. */
export const PIECE = 64 * 1_024

/** Bytes of a number, or of the space between two values, which are not parsed in pieces. */
const MAX_GAP = PIECE
const LONG_GAP: TextProblem = {
  code: 'BAD_USER_INPUT',
  message: `A number of the request, or the space between two values, has more than ${MAX_GAP} bytes.`,
}

/** The whole text of a request. */
export const jsonProblem = (text: string, maxValues: number): TextProblem | null =>
  new JsonScanner(maxValues).scan(Buffer.from(text))

/** Judges a text, given piece by piece in UTF-8. Invalid JSON passes; the parser rejects it. */
export class JsonScanner {
  /** Arrays, objects and texts of more than a piece, but for keys: where each begins, and its last byte. */
  readonly large = new Map<number, number>()
  readonly #maxValues: number
  readonly #piece: number
  /** In arrays and objects, each of which counts, too. */
  #values = 0
  /** Starts of the open arrays and objects. */
  readonly #starts: number[] = []
  /** Bytes before the present ones. */
  #offset = 0
  /** Start of the present text; null: outside of texts. */
  #textStart: number | null = null
  /** Its UTF-16 code units so far. */
  #units = 0
  /** The next character is escaped. */
  #isEscaped = false
  /** The text that has just ended, which is a key if a colon follows: where it begins, and its bytes. */
  #ended: { readonly at: number; readonly bytes: number } | null = null
  /** The place of the last bracket, comma, colon or quote. */
  #lastMark = 0

  constructor(maxValues: number, piece = PIECE) {
    this.#maxValues = maxValues
    this.#piece = piece
  }

  scan(bytes: Uint8Array): TextProblem | null {
    for (let i = 0; i < bytes.length; i++) {
      if (this.#textStart !== null) {
        const end = this.#endOfText(bytes, i)
        if (this.#units > MAX_TEXT) return LONG_TEXT
        if (end === bytes.length) break
        this.#endText(this.#textStart, this.#offset + end)
        i = end
      } else {
        const problem = this.#judge(bytes[i] as number, this.#offset + i)
        if (problem) return problem
      }
    }
    this.#offset += bytes.length
    return null
  }

  /** The index of the closing quote, or the length of the bytes. */
  #endOfText(bytes: Uint8Array, from: number): number {
    let units = this.#units
    let i = from
    if (this.#isEscaped) {
      if (bytes[i] === CHAR.u) units -= HEX_DIGITS
      i += 1
    }
    for (; i < bytes.length; i++) {
      const byte = bytes[i] as number
      if (byte === CHAR.quote) break
      units += byte < 0x80 ? 1 : unitsOf(byte)
      // The escaped character is no end, and what follows a `u` is one unit with it.
      if (byte === CHAR.backslash) {
        i += 1
        if (bytes[i] === CHAR.u) units -= HEX_DIGITS
      }
    }
    this.#units = units
    this.#isEscaped = i > bytes.length
    return Math.min(i, bytes.length)
  }

  #endText(start: number, end: number): void {
    this.#ended = { at: start, bytes: end - start - 1 }
    if (end - start > this.#piece) this.large.set(start, end)
    this.#textStart = null
    this.#lastMark = end
  }

  #judge(byte: number, at: number): TextProblem | null {
    switch (byte) {
      case CHAR.quote:
        this.#textStart = at
        this.#units = 0
        break
      case CHAR.colon:
        if (this.#ended === null) break
        if (this.#ended.bytes > MAX_KEY) return LONG_KEY
        this.large.delete(this.#ended.at)
        break
      case CHAR.comma:
        this.#values += 1
        break
      case CHAR.openArray:
      case CHAR.openObject:
        this.#values += 1
        this.#starts.push(at)
        if (this.#starts.length > MAX_NESTING) return TOO_DEEP
        break
      case CHAR.closeArray:
      case CHAR.closeObject: {
        const start = this.#starts.pop()
        if (start !== undefined && at - start > this.#piece) this.large.set(start, at)
        break
      }
      default:
        return at - this.#lastMark > MAX_GAP ? LONG_GAP : null
    }
    this.#lastMark = at
    this.#ended = null
    return this.#values > this.#maxValues ? tooManyValues(this.#maxValues) : null
  }
}

const tooManyValues = (maxValues: number): TextProblem => ({
  code: 'TOO_COMPLEX',
  message: `The request has more than ${maxValues} values in arrays and objects: send them in several requests.`,
})

/** Digits of an escape like \u0041. */
export const HEX_DIGITS = 4
/** UTF-16 units of the character that begins with this byte of UTF-8; none for its further bytes. */
const unitsOf = (byte: number): number => (isContinuation(byte) ? 0 : byte < 0xf0 ? 1 : 2)
export const isContinuation = (byte: number): boolean => (byte & 0xc0) === 0x80

export const CHAR = {
  quote: 0x22,
  comma: 0x2c,
  colon: 0x3a,
  openArray: 0x5b,
  backslash: 0x5c,
  closeArray: 0x5d,
  u: 0x75,
  openObject: 0x7b,
  closeObject: 0x7d,
} as const

export const isBlank = (byte: number): boolean => byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d
