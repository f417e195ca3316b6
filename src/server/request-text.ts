/** What is judged of the text of a request while it arrives, before it costs the time and the memory to parse it. */

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

/** Bytes. A text is parsed at one go. None that is accepted anywhere is longer, even with every character escaped. */
const MAX_TEXT = 7 * 1_024 * 1_024
const LONG_TEXT: TextProblem = {
  code: 'BAD_USER_INPUT',
  message: `A text of the request has more than ${MAX_TEXT} bytes: no argument takes as much.`,
}

/** Bytes of JSON that are parsed at one go, if it consists of parts. */
export const PIECE = 64 * 1_024

/** The whole text of a request. */
export const jsonProblem = (text: string, maxValues: number): TextProblem | null =>
  new JsonScanner(maxValues).scan(Buffer.from(text))

/** Judges a text, given piece by piece in UTF-8. What is no JSON passes, for the parser to refuse. */
export class JsonScanner {
  /** Arrays and objects of more than a piece: where each begins, and its last byte. */
  readonly large = new Map<number, number>()
  readonly #maxValues: number
  readonly #piece: number
  /** In arrays and objects, each of which counts, too. */
  #values = 0
  /** Of the arrays and objects that are open. */
  readonly #starts: number[] = []
  /** Bytes before the present ones. */
  #offset = 0
  /** Where the present text begins; null: outside of texts. */
  #textStart: number | null = null
  /** The next character is escaped. */
  #isEscaped = false
  /** The text that has just ended is too long for a key. */
  #isLong = false

  constructor(maxValues: number, piece = PIECE) {
    this.#maxValues = maxValues
    this.#piece = piece
  }

  scan(bytes: Uint8Array): TextProblem | null {
    for (let i = 0; i < bytes.length; i++) {
      if (this.#textStart !== null) {
        const end = this.#endOfText(bytes, i)
        const length = this.#offset + end - this.#textStart - 1
        if (length > MAX_TEXT) return LONG_TEXT
        if (end === bytes.length) break
        this.#textStart = null
        this.#isLong = length > MAX_KEY
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
    let i = this.#isEscaped ? from + 1 : from
    for (; i < bytes.length; i++) {
      const byte = bytes[i] as number
      if (byte === CHAR.quote) break
      // Neither the escaped character is an end, nor is the rest of its escape.
      if (byte === CHAR.backslash) i += 1
    }
    this.#isEscaped = i > bytes.length
    return Math.min(i, bytes.length)
  }

  #judge(byte: number, at: number): TextProblem | null {
    switch (byte) {
      case CHAR.quote:
        this.#textStart = at
        break
      case CHAR.colon:
        if (this.#isLong) return LONG_KEY
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
      }
    }
    if (this.#isLong && !isBlank(byte)) this.#isLong = false
    return this.#values > this.#maxValues ? tooManyValues(this.#maxValues) : null
  }
}

const tooManyValues = (maxValues: number): TextProblem => ({
  code: 'TOO_COMPLEX',
  message: `The request has more than ${maxValues} values in arrays and objects: send them in several requests.`,
})

export const CHAR = {
  quote: 0x22,
  comma: 0x2c,
  colon: 0x3a,
  openArray: 0x5b,
  backslash: 0x5c,
  closeArray: 0x5d,
  openObject: 0x7b,
  closeObject: 0x7d,
} as const

export const isBlank = (byte: number): boolean => byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d
