/**
 * Characters that a reader does not see, or that change what the reader sees: controls (C0, DEL, C1), format characters (marks
 * of direction, joiners, characters of no width), and separators of lines and paragraphs. A joiner inside an emoji is none.
 */
const HIDDEN = String.raw`(?!\u200d)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]|(?<![\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f])\u200d`

const ONE = new RegExp(HIDDEN, 'u')
const EACH = new RegExp(HIDDEN, 'gu')

export const hasHidden = (text: string): boolean => ONE.test(text)

/** The text with something in place of each hidden character. */
export const replaceHidden = (text: string, by: (character: string) => string): string =>
  hasHidden(text) ? text.replace(EACH, by) : text

const escapeUnits = (text: string): string =>
  Array.from({ length: text.length }, (_, i) => `\\u${text.charCodeAt(i).toString(16).padStart(4, '0')}`).join('')

/** JSON with its hidden characters escaped, which stand within texts only: the value stays the same. */
export const escapeHidden = (json: string): string => replaceHidden(json, escapeUnits)

/** Marks that can be seen, digits, and blanks that all look like one. Others have the width of a blank, or none at all. */
const UNSEEN = /(?! )[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/u
/** Scripts of which many letters look alike. */
const ALIKE =
  /\p{Script=Latin}.*[\p{Script=Cyrillic}\p{Script=Greek}]|[\p{Script=Cyrillic}\p{Script=Greek}].*\p{Script=Latin}|\p{Script=Cyrillic}.*\p{Script=Greek}|\p{Script=Greek}.*\p{Script=Cyrillic}/u

/**
 * Why a text cannot be the name of a principal or a token, as the rest of a sentence; null when it can. Such a name stands in
 * the log and in the audit for who did it, so that none may look like another by characters that nobody sees.
 */
export function nameProblem(name: string): string | null {
  if (name === '' || name !== name.trim()) return 'must not be empty, and have no blank at either end'
  if (UNSEEN.test(name) || name.includes('  '))
    return 'must consist of characters that can be seen, with single blanks between words: no controls, no marks of direction, nothing of no width, no other kind of blank'
  if (name !== name.normalize('NFKC')) return 'must be written with plain characters, as Unicode composes them (NFKC)'
  const isMixed = name.split(' ').some((word) => ALIKE.test(word))
  return isMixed ? 'must not mix Latin, Greek and Cyrillic letters in a word' : null
}

const EACH_UNSEEN = new RegExp(UNSEEN, 'gu')

/** The text without all that cannot be seen, as such a name; empty if nothing is left, or if its letters deceive. */
export function nearestName(text: string, maxLength: number): string {
  const seen = text.normalize('NFKC').replace(/\s+/gu, ' ').replace(EACH_UNSEEN, '').replace(/ {2,}/g, ' ')
  const name = seen
    .trim()
    .slice(0, maxLength)
    .toWellFormed()
    .replace(/\ufffd$/, '')
    .normalize('NFKC')
    .trim()
  return nameProblem(name) === null ? name : ''
}
