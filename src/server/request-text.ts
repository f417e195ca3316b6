/** What is judged of the text of a request, before it costs the time and the memory to parse it. */

/** Code that walks deeper values recursively overflows its stack. Specs are at most 64 deep. */
export const MAX_NESTING = 256

export interface TextProblem {
  readonly code: 'TOO_COMPLEX' | 'BAD_USER_INPUT'
  readonly message: string
}

/**
 * Postgres stores no NUL character, neither in text nor in JSON, and would fail whole transactions for one, with the reports
 * of others in them. So a request with a NUL is refused before anything is executed.
 */
export const NUL: TextProblem = {
  code: 'BAD_USER_INPUT',
  message: 'A text holds the character NUL (U+0000), which cannot be stored: leave it out.',
}
const TOO_DEEP: TextProblem = {
  code: 'TOO_COMPLEX',
  message: `The request is nested more than ${MAX_NESTING} levels deep: store deeper data as a string.`,
}

/** An unknown key is compared with the known ones, for a suggestion, and told in the error. */
const MAX_KEY = 4_096
const LONG_KEY: TextProblem = {
  code: 'BAD_USER_INPUT',
  message: `A key of the request has more than ${MAX_KEY} characters: long texts belong in values.`,
}

/** @param maxValues of arrays and objects, each of which counts, too */
export function jsonProblem(text: string, maxValues: number): TextProblem | null {
  if (holdsNul(text)) return NUL
  // No shorter text that is JSON can exceed a limit.
  if (text.length <= 2 * MAX_NESTING) return null
  let depth = 0
  let values = 0
  for (let i = 0; i < text.length; i++) {
    switch (text.charCodeAt(i)) {
      case CHAR.quote: {
        const end = endOfString(text, i)
        if (end - i > MAX_KEY && isKey(text, end)) return LONG_KEY
        i = end
        break
      }
      case CHAR.comma:
        values += 1
        break
      case CHAR.openArray:
      case CHAR.openObject:
        values += 1
        depth += 1
        if (depth > MAX_NESTING) return TOO_DEEP
        break
      case CHAR.closeArray:
      case CHAR.closeObject:
        depth -= 1
    }
    if (values > maxValues) return tooManyValues(maxValues)
  }
  return null
}

const tooManyValues = (maxValues: number): TextProblem => ({
  code: 'TOO_COMPLEX',
  message: `The request has more than ${maxValues} values in arrays and objects: send them in several requests.`,
})

const CHAR = {
  quote: 0x22,
  comma: 0x2c,
  openArray: 0x5b,
  backslash: 0x5c,
  closeArray: 0x5d,
  openObject: 0x7b,
  closeObject: 0x7d,
} as const

const NOT_BLANK = /[^ \t\r\n]/g
function isKey(text: string, end: number): boolean {
  NOT_BLANK.lastIndex = end + 1
  return NOT_BLANK.exec(text)?.[0] === ':'
}

/** The index of the closing quote, or the length of the text. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let slashes = 0
    while (text.charCodeAt(end - 1 - slashes) === CHAR.backslash) slashes += 1
    if (slashes % 2 === 0) return end
  }
  return text.length
}

/** An escaped NUL: the only one that JSON can hold. An escaped backslash before `u0000` makes it plain text. */
const holdsNul = (json: string): boolean => json.includes('\\u0000') && /(?<!\\)(?:\\\\)*\\u0000/.test(json)
