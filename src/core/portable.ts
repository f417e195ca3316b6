/**
 * The one table of what a text or a number cannot hold if JSON, Postgres and JavaScript are all to read it alike. Requests,
 * reports, files and those who send them judge by it: data is refused with its place, and text for people is mended.
 */

/** Postgres stores no NUL, neither in text nor in JSON, and neither UTF-8 nor Postgres has half of a surrogate pair. */
export const isPortableText = (text: string): boolean => text.isWellFormed() && !text.includes('\0')

/** Why a text cannot be stored as it is, as the rest of a sentence; null when it can. */
export function textProblem(text: string): string | null {
  if (text.includes('\0')) return 'holds the character NUL (U+0000), which cannot be stored: leave it out'
  return text.isWellFormed() ? null : 'holds half of a surrogate pair, which is no character: leave it out'
}

/** The text with U+FFFD for each character that cannot be stored. */
export const portableText = (text: string): string =>
  isPortableText(text) ? text : text.toWellFormed().replaceAll('\0', '\ufffd')

/** The text, or the beginning of one that is too long, which does not end within a surrogate pair. */
export const beginningOf = (text: string, max: number): string =>
  text.length <= max ? text : text.slice(0, max).replace(/[\ud800-\udbff]$/, '')

/** UTF-8 that was cut, without the beginning of a character at its end. */
export function withoutHalfCharacter(bytes: Uint8Array): Uint8Array {
  let start = bytes.length - 1
  while (start >= 0 && bytes.length - start < 4 && ((bytes[start] as number) & 0xc0) === 0x80) start -= 1
  const first = bytes[start] ?? 0
  const length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1
  return start + length > bytes.length ? bytes.subarray(0, start) : bytes
}

/**
 * Why readers of JSON would not all read a number alike, as the rest of a sentence; null when they would. Rounding keeps
 * the order of numbers, so that one written beyond the bound is beyond it when it has been rounded, too.
 */
export function numberProblem(number: number): string | null {
  if (Number.isSafeInteger(number)) return null
  if (!Number.isFinite(number)) return `is no number that JSON has: ${QUOTE_IT}`
  return Number.isInteger(number)
    ? `is a whole number beyond ±${MAX}, of which digits would be lost: ${QUOTE_IT}`
    : null
}
const MAX = Number.MAX_SAFE_INTEGER
const QUOTE_IT = 'write it as a text, in quotes'

/** Describes a value that is neither text, number, boolean, null, array nor object, as the rest of a sentence. */
const strangerProblem = (value: unknown): string | null =>
  value === null || value === undefined || typeof value === 'boolean' ? null : `is not JSON but a ${typeof value}`

/** Why a value that is no array and no object is not stored as it is, as the rest of a sentence. */
export function leafProblem(value: unknown): string | null {
  if (typeof value === 'string') return textProblem(value)
  return typeof value === 'number' ? numberProblem(value) : strangerProblem(value)
}

/** For values that were judged when they came, perhaps by an older version. */
export const storedLeafProblem = (value: unknown): string | null => {
  if (typeof value === 'number') return Number.isFinite(value) ? null : numberProblem(value)
  return typeof value === 'string' ? null : strangerProblem(value)
}
