/** The gadget protocol `text-1.0` as in docs/gadget-protocol.md: one line of a gadget's standard output. */

export const PROTOCOL = 'text-1.0'

export type GadgetLine =
  | { readonly type: 'step'; readonly text: string }
  | { readonly type: 'proginfo'; readonly total: number; readonly unit: string }
  | { readonly type: 'prog'; readonly done: number }
  | { readonly type: 'lock'; readonly resource: string; readonly mode: 'SHARED' | 'EXCLUSIVE' }
  | { readonly type: 'export'; readonly name: string; readonly value: unknown }
  | { readonly type: 'protocol'; readonly version: string }
  | { readonly type: 'error'; readonly message: string }
  | { readonly type: 'malformed'; readonly problem: string }

/** The modes of calling a gadget. */
export type GadgetMode = 'run' | 'undo' | 'abort' | 'getlocks'

/**
 * Options of the protocol are not allowed as user arguments: most gadgets search all their arguments for them, so a run
 * with `--undo` would undo its own work.
 */
export const isReservedArgument = (argument: string): boolean =>
  /^--(?:(?:getlocks|undo|abort)$|protocols?(?:=|$))/.test(argument)
export const RESERVED_ARGUMENT_RULE =
  'must not be --getlocks, --undo, --abort or --protocol: they say how a gadget is called'

/** Bytes of one line without its end. */
export const MAX_LINE_BYTES = 64 * 1024
export const MAX_LINES = 100_000
export const MAX_EXPORTS = 100
export const MAX_LOCKS = 1_000
const MAX_TEXT = 2_000
const MAX_UNIT = 32
const MAX_RESOURCE = 256

const malformed = (problem: string): GadgetLine => ({ type: 'malformed', problem })

/** One line, without its end. Never throws. */
export function parseGadgetLine(line: string): GadgetLine {
  // Only text and tabs are allowed, since the lines are shown in terminals and stored as text.
  if (/[^\P{Cc}\t]/u.test(line)) return malformed('a control character')
  const text = line.trimEnd()
  const blank = text.search(/[ \t]/)
  const word = blank === -1 ? text : text.slice(0, blank)
  const rest = blank === -1 ? '' : text.slice(blank).trimStart()
  if (word === '') return malformed(text === '' ? 'an empty line' : 'a blank before the word')
  const parse = LINE_PARSERS.get(word.toLowerCase())
  return parse ? parse(rest) : malformed(`the unknown word ${quote(word)}`)
}

const LINE_PARSERS: ReadonlyMap<string, (rest: string) => GadgetLine> = new Map([
  ['step', parseStep],
  ['proginfo', parseProginfo],
  ['prog', parseProg],
  ['lock', parseLock],
  ['export', parseExport],
  ['protocol', parseProtocol],
  ['error', parseError],
])

function parseStep(text: string): GadgetLine {
  return text === '' ? malformed('STEP without a text') : { type: 'step', text: text.slice(0, MAX_TEXT) }
}

function parseProg(rest: string): GadgetLine {
  const done = parseNumber(rest)
  return done === null ? malformed('PROG needs one number, such as PROG 12.5') : { type: 'prog', done }
}

function parseProtocol(version: string): GadgetLine {
  return version === '' ? malformed('Protocol without a version') : { type: 'protocol', version }
}

function parseError(message: string): GadgetLine {
  return { type: 'error', message: message.slice(0, MAX_TEXT) || 'The gadget gave no reason.' }
}

function parseProginfo(rest: string): GadgetLine {
  const [, first = '', unit = ''] = /^(\S+)[ \t]+(.+)$/.exec(rest) ?? []
  const total = parseNumber(first)
  if (total === null || unit === '' || unit.length > MAX_UNIT) {
    return malformed('PROGINFO needs a number and a unit, such as PROGINFO 250 MiB')
  }
  return { type: 'proginfo', total, unit }
}

function parseLock(rest: string): GadgetLine {
  const [, scheme = '', name = '', mode = ''] = /^([a-z][a-z0-9+.-]*):(\S+)=([sx])$/i.exec(rest) ?? []
  const resource = `${scheme.toLowerCase()}:${name}`
  if (mode === '' || resource.length > MAX_RESOURCE) {
    return malformed('LOCK needs scheme:resource=S or =X, such as LOCK server:db1.example.com=X')
  }
  return { type: 'lock', resource, mode: mode.toLowerCase() === 's' ? 'SHARED' : 'EXCLUSIVE' }
}

function parseExport(rest: string): GadgetLine {
  const [, name = '', json = ''] = /^([a-z_][a-z0-9_]{0,63})[ \t]+(.+)$/i.exec(rest) ?? []
  try {
    const value: unknown = JSON.parse(json)
    return { type: 'export', name, value }
  } catch {
    return malformed('EXPORT needs a name and a JSON value, such as EXPORT url "http://127.0.0.1:8080"')
  }
}

/** Decimal, not negative, finite. */
function parseNumber(text: string): number | null {
  if (!/^\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i.test(text)) return null
  const value = Number(text)
  return Number.isFinite(value) ? value : null
}

const quote = (word: string): string => JSON.stringify(word.length > 40 ? `${word.slice(0, 40)}…` : word)

/** The lines that each mode allows. `Protocol` and `Error` are always allowed. */
export const ALLOWED: Readonly<Record<GadgetMode, ReadonlySet<GadgetLine['type']>>> = {
  run: new Set(['step', 'proginfo', 'prog', 'export', 'protocol', 'error']),
  undo: new Set(['step', 'proginfo', 'prog', 'protocol', 'error']),
  abort: new Set(['step', 'proginfo', 'prog', 'protocol', 'error']),
  getlocks: new Set(['lock', 'protocol', 'error']),
}
