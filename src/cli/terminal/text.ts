import { createRequire } from 'node:module'
import { duration } from '../../client-model/duration.ts'
import { CLASS_SYMBOLS } from '../../client-model/phases.ts'
import { cleanLine } from './clean.ts'

/** Tables for all scripts take longer to load than a command takes without. They are loaded for texts that need them. */
const load = createRequire(import.meta.url)
const stringWidth = (text: string): number => (load('string-width') as typeof import('string-width')).default(text)
const cliTruncate = (text: string, width: number): string =>
  (load('cli-truncate') as typeof import('cli-truncate')).default(text, width)

const SYMBOLS = new Set(Object.values(CLASS_SYMBOLS).join(''))
/** Each of its characters takes one column. */
const isPlain = (text: string): boolean => [...text].every((one) => (one >= ' ' && one <= '~') || SYMBOLS.has(one))

/** The text as it will be printed: only that can be measured. A tab has no width of its own. */
const measurable = (text: string): string => cleanLine(text).replaceAll('\t', ' ')

/** Terminal columns of a text. */
export const columns = (text: string): number => {
  const printed = measurable(text)
  return isPlain(printed) ? printed.length : stringWidth(printed)
}

/** At most `width` columns, which may be infinite; an ellipsis replaces the omitted end. */
export function shorten(text: string, width: number): string {
  if (width <= 0) return ''
  const printed = measurable(text)
  if (!Number.isFinite(width) || (isPlain(printed) && printed.length <= width)) return printed
  return cliTruncate(printed, width)
}

/** Padded with spaces, or shortened, to exactly `width` columns. */
export function pad(text: string, width: number, side: 'start' | 'end' = 'end'): string {
  const fitted = shorten(text, width)
  const fill = ' '.repeat(Math.max(0, width - columns(fitted)))
  return side === 'end' ? fitted + fill : fill + fitted
}

/** From then on, up to now or another time. */
export const since = (time: string, until: string | null = null): string =>
  duration((until === null ? Date.now() : Date.parse(until)) - Date.parse(time))

export { articled, words } from '../../core/words.ts'
export { duration }
