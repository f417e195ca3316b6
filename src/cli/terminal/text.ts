import { createRequire } from 'node:module'
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

/** 950ms, 4.2s, 3m 05s, 2h 04m, 3d 04h. */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))}ms`
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)}s`
  const two = (value: number): string => String(value).padStart(2, '0')
  const seconds = Math.round(ms / 1000)
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m ${two(seconds % 60)}s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 1440) return `${Math.floor(minutes / 60)}h ${two(minutes % 60)}m`
  return `${Math.floor(minutes / 1440)}d ${two(Math.floor(minutes / 60) % 24)}h`
}

/** From then on, up to now or another time. */
export const since = (time: string, until: string | null = null): string =>
  duration((until === null ? Date.now() : Date.parse(until)) - Date.parse(time))

export { articled, words } from '../../core/words.ts'
