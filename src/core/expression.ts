import { LIMITS } from './limits.ts'

/** One `${…}` in a JSON value. */
export interface Expression {
  /** Path of its string, e.g. `env.2.value`; empty for the value itself. */
  readonly path: string
  /** The text between the braces. With a problem: text that no expression parser accepts. */
  readonly source: string
  /** The string consists of this expression only, so it yields the value itself instead of text. */
  readonly whole: boolean
  /** The place of its beginning, in a text that has more than this expression. */
  readonly place?: TextPlace
  /** Set when the expression cannot be parsed (unbalanced, too deep or too large), or is in a key: its path is that of the map. */
  readonly problem?: string
}

/** A place in a text; both numbers start at 1. */
export interface TextPlace {
  readonly line: number
  readonly column: number
}

/** A string as a sequence of literal text (escapes undone) and expressions. */
export type TextPart = string | { readonly source: string; readonly at: number }
export type ParsedText =
  | { readonly ok: true; readonly parts: readonly TextPart[]; readonly whole: boolean }
  | { readonly ok: false; readonly message: string }

/** Bounds of a template: levels of arrays and objects, and characters of all its strings and keys together. */
export const TEMPLATE_LIMITS = { depth: 64, size: LIMITS.json.max } as const

const UNREADABLE = '${'

/**
 * Splits at `${…}`. Braces, string literals (quoted, triple-quoted, raw) and comments inside an expression are skipped
 * over; `$${` stands for a literal `${`.
 */
export function parseText(text: string): ParsedText {
  const parts: TextPart[] = []
  let literal = ''
  let at = 0
  for (;;) {
    const open = text.indexOf('${', at)
    if (open < 0) break
    if (text[open - 1] === '$' && open > at) {
      literal += `${text.slice(at, open - 1)}\${`
      at = open + 2
      continue
    }
    const close = endOfExpression(text, open + 2)
    if (close < 0) return { ok: false, message: `the expression at ${shown(placesIn(text)(open))} is never closed` }
    literal += text.slice(at, open)
    if (literal) parts.push(literal)
    literal = ''
    parts.push({ source: text.slice(open + 2, close), at: open })
    at = close + 1
  }
  literal += text.slice(at)
  if (literal) parts.push(literal)
  return { ok: true, parts, whole: parts.length === 1 && typeof parts[0] === 'object' }
}

/** Finds places in a text, by offsets in their order. */
export function placesIn(text: string): (offset: number) => TextPlace {
  let line = 1
  let start = 0
  let end = text.indexOf('\n')
  return (offset) => {
    for (; end >= 0 && end < offset; end = text.indexOf('\n', start)) {
      line++
      start = end + 1
    }
    return { line, column: offset - start + 1 }
  }
}

const shown = ({ line, column }: TextPlace): string => `line ${line}, column ${column} of the text`

/** A problem of an expression, with its place in a text that has more than this expression. */
export const placed = (place: TextPlace | undefined, message: string): string =>
  place ? `${shown(place)}: ${message}` : message

/** Texts for a shell and the like have `${` of their own. */
const LITERAL = '(a literal ${ is written $${)'

/** Why an expression cannot be read, for whoever writes it. */
export const unreadable = ({ place }: Pick<Expression, 'place'>, message: string): string =>
  `${placed(place, message)} ${LITERAL}`

/** Index of the closing brace, or -1. */
function endOfExpression(text: string, start: number): number {
  let depth = 0
  for (let at = start; at < text.length; at++) {
    const char = text[at]
    if (char === '"' || char === "'") {
      at = endOfLiteral(text, at)
      if (at < 0) return -1
    } else if (char === '/' && text[at + 1] === '/') {
      at = text.indexOf('\n', at)
      if (at < 0) return -1
    } else if (char === '{') depth++
    else if (char === '}') {
      if (depth === 0) return at
      depth--
    }
  }
  return -1
}

/** Index of the last quote of the literal that opens at `open`, or -1. */
function endOfLiteral(text: string, open: number): number {
  const quote = text[open] as string
  const raw = /(^|[^A-Za-z0-9_])([bB]?[rR]|[rR][bB])$/.test(text.slice(Math.max(0, open - 3), open))
  const triple = text.startsWith(quote.repeat(3), open)
  const delimiter = triple ? quote.repeat(3) : quote
  for (let at = open + delimiter.length; at < text.length; at++) {
    const char = text[at]
    if (char === '\\' && !raw) at++
    else if (text.startsWith(delimiter, at)) return at + delimiter.length - 1
    // A literal in single quotes ends with its line.
    else if (char === '\n' && !triple) return -1
  }
  return -1
}

/**
 * True if a value needs resolving: it has an expression, or an escape for a literal `${`. Also true for a value that is
 * nested too deep, which `findExpressions` then reports as a problem.
 */
export function hasExpressions(value: unknown): boolean {
  let found = false
  const problem = walk(value, Number.POSITIVE_INFINITY, (text) => {
    found = text.includes(UNREADABLE)
    return !found
  })
  return found || problem !== null
}

/** Every expression in the strings of a JSON value, in order, and those that are in keys, where they cannot be. */
export function findExpressions(value: unknown): readonly Expression[] {
  const found: Expression[] = []
  const problem = walk(value, TEMPLATE_LIMITS.size, (text, path, isKey) => {
    if (text.includes(UNREADABLE)) found.push(...(isKey ? expressionsInKey(text, path()) : expressionsIn(text, path())))
    return true
  })
  return problem ? [...found, { ...problem, source: UNREADABLE, whole: false }] : found
}

function expressionsIn(text: string, path: string): readonly Expression[] {
  const parsed = parseText(text)
  if (!parsed.ok) return [{ path, source: UNREADABLE, whole: false, problem: unreadable({}, parsed.message) }]
  const { parts, whole } = parsed
  const placeAt = placesIn(text)
  return parts.flatMap((part) =>
    typeof part === 'string' ? [] : [{ path, source: part.source, whole, ...(!whole && { place: placeAt(part.at) }) }],
  )
}

/** Characters of a key in a message. */
const SHOWN_KEY = 60

/** Null: the key has an expression, or one that cannot be parsed. Otherwise the key without its escapes. */
export function plainKey(key: string): string | null {
  if (!key.includes(UNREADABLE)) return key
  const parsed = parseText(key)
  return parsed.ok && parsed.parts.every((part) => typeof part === 'string') ? parsed.parts.join('') : null
}

function expressionsInKey(key: string, path: string): readonly Expression[] {
  if (plainKey(key) !== null) return []
  const problem = `has the key ${JSON.stringify(key.slice(0, SHOWN_KEY))}: expressions are no keys, but a whole map may be one, such as \${{imports.key: 1}}`
  return [{ path, source: UNREADABLE, whole: false, problem }]
}

interface Place {
  readonly value: unknown
  readonly key: string
  readonly depth: number
  readonly parent: Place | null
}

/** Visits strings and keys until the visitor stops it. Uses an explicit stack, so that no depth overflows the call stack. */
function walk(
  value: unknown,
  limit: number,
  visit: (text: string, path: () => string, isKey: boolean) => boolean,
): { path: string; problem: string } | null {
  const stack: Place[] = [{ value, key: '', depth: 0, parent: null }]
  let size = 0
  for (let place = stack.pop(); place; place = stack.pop()) {
    const here = place
    if (typeof here.value === 'string') {
      size += here.value.length
      if (!visit(here.value, () => pathOf(here), false)) return null
    } else if (typeof here.value === 'object' && here.value !== null) {
      if (here.depth >= TEMPLATE_LIMITS.depth) {
        return { path: pathOf(here), problem: `it is nested more than ${TEMPLATE_LIMITS.depth} levels deep` }
      }
      const children = Object.entries(here.value)
      for (const [key, child] of children.reverse()) {
        if (!Array.isArray(here.value) && !visit(key, () => pathOf(here), true)) return null
        stack.push({ value: child, key, depth: here.depth + 1, parent: here })
        size += key.length + 1
      }
    }
    if (size > limit) return { path: '', problem: `it is larger than ${limit} characters` }
  }
  return null
}

function pathOf(place: Place): string {
  const keys: string[] = []
  for (let at: Place = place; at.parent; at = at.parent) keys.push(at.key)
  return keys.reverse().join('.')
}
