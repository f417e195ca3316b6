import { randomInt } from 'node:crypto'
import { stripVTControlCharacters } from 'node:util'
import { hasHidden, replaceHidden } from '../../core/hidden-text.ts'

/**
 * Text from elsewhere (names, messages, output of workloads) can hold escape sequences and other hidden characters. The writer
 * (`io.ts`) takes them out of everything that it prints, and lets this program's own sequences through: they bear a key of this
 * process, which no text from elsewhere can know. The key looks like parameters of a sequence, so whatever measures a text
 * still finds a sequence of no width.
 */
const KEY = `\u001b[${Array.from({ length: 6 }, () => String(randomInt(1_000, 10_000))).join(';')};`
const OWN = new RegExp(`(${KEY.replace('[', '\\[')}[?\\d]*[A-Za-z])`)

/** An escape sequence of this program, by what follows `ESC [`, e.g. `31m`. */
export const sequence = (code: string): string => KEY + code

/**
 * One line without anything that could steer a terminal or deceive its reader: foreign sequences vanish, controls become a
 * blank, and other hidden characters U+FFFD. Tabs stay.
 */
export function cleanLine(text: string): string {
  if (!hasHidden(text)) return text
  const parts = text.split(OWN)
  return parts.map((part, index) => (index % 2 === 1 ? part : cleanPart(part))).join('')
}

/** C0 without the tab, DEL, C1, and separators: a break of a line or worse. */
const CONTROLS = /[^\P{Cc}\t]+|[\p{Zl}\p{Zp}]+/gu

const cleanPart = (part: string): string =>
  replaceHidden(stripVTControlCharacters(part).replace(CONTROLS, ' '), (left) => (left === '\t' ? left : '\ufffd'))

/** A cleaned text as the terminal gets it. */
export const raw = (clean: string): string => clean.replaceAll(KEY, '\u001b[')
