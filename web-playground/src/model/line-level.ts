import type { Level } from './output-filter.ts'

/** Finds the level of a line of output, in the forms that loggers write: a word near its start, or a member of JSON. */

/** Characters in which a level stands, after a time and a name. */
const START = 80
const LEVEL_PATTERNS: Readonly<Record<Level, RegExp>> = {
  error: /\b(?:error|err|fatal|critical|crit|panic|severe|emerg|alert)\b/i,
  warning: /\b(?:warning|warn)\b/i,
}
/** Loggers write a number, such as pino, or a word. */
const MEMBER = /"(?:level|severity|levelname)"\s*:\s*(?:"(?<word>[a-z]+)"|(?<number>\d+))/i
const NUMBERS: Readonly<Record<Level, number>> = { error: 50, warning: 40 }

/** Null: neither. */
export function levelOf(text: string): Level | null {
  const member = text.startsWith('{') ? MEMBER.exec(text)?.groups : undefined
  if (member?.number !== undefined) {
    const number = Number(member.number)
    return number >= NUMBERS.error ? 'error' : number >= NUMBERS.warning ? 'warning' : null
  }
  const where = member?.word ?? text.slice(0, START)
  return LEVEL_PATTERNS.error.test(where) ? 'error' : LEVEL_PATTERNS.warning.test(where) ? 'warning' : null
}

/** True if the line has this level or a worse one. */
export const isAtLeast = (text: string, wanted: Level): boolean => {
  const level = levelOf(text)
  return level === 'error' || (level === 'warning' && wanted === 'warning')
}
