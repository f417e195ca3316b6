import { stripVTControlCharacters } from 'node:util'

/** Besides C0 and C1: line separators, and the marks that turn the direction of what follows. */
const CONTROL = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]+/gu
const ZERO_WIDTH = /^[\p{Mn}\p{Me}\p{Cf}]$/u
const WIDE =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]$/u

/** Text from elsewhere made safe for one terminal line: no escape sequences, no control characters, no line breaks. */
export const plain = (text: string): string => stripVTControlCharacters(text).replace(CONTROL, ' ').trim()

function columnsOf(character: string): number {
  if (ZERO_WIDTH.test(character)) return 0
  return WIDE.test(character) ? 2 : 1
}

/** Terminal columns that a text without escape sequences takes. */
export function columns(text: string): number {
  let sum = 0
  for (const character of text) sum += columnsOf(character)
  return sum
}

/** At most `width` columns, an ellipsis standing for what is left out. */
export function shorten(text: string, width: number): string {
  if (columns(text) <= width) return text
  if (width <= 0) return ''
  let kept = ''
  let used = 0
  for (const character of text) {
    used += columnsOf(character)
    if (used > width - 1) break
    kept += character
  }
  return `${kept}…`
}

/** Filled up with spaces to exactly `width` columns, or cut. */
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

/** DEPLOY_ITEM as people read it: deploy item. */
export const words = (constant: string): string => constant.toLowerCase().replaceAll('_', ' ')
