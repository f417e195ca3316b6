import type { Tape } from './tape.ts'

/** Values of variables and literals: plausible ones first, then such as have broken servers. */

/** Names of what the target has; the sender puts the ids in their place. */
export const KNOWN = [
  ...['@installation', '@item', '@task', '@job', '@event', '@worker', '@cloudlet', '@cluster', '@app'],
  ...['@foreign', '@projectId', '@principal', '@token', '@fence', '@oldFence', '@cursor', '@change'],
] as const

const LONG = 'x'.repeat(300)
const TEXTS: readonly string[] = [
  ...[
    'a',
    'fuzz',
    'foreign',
    'nowhere',
    'mock',
    '',
    ' ',
    '-',
    '*',
    '%',
    '_',
    '.',
    '..',
    '/',
    '\\',
    '"',
    "'",
    '\n',
    '\r\n',
    '\t',
  ],
  ...['\0', 'a\0b', '\ud800', '\udfff', 'a\ud800b', '\uffff', '\ufeff', '\u202e', '🦊', 'é', '\u0301', 'İ', 'ß'],
  ...[
    '__proto__',
    'constructor',
    'prototype',
    'toString',
    'hasOwnProperty',
    'valueOf',
    'then',
    '__typename',
    'length',
    'null',
  ],
  ...[
    "'; drop table object; --",
    '$1',
    '%s',
    '${1}',
    '${',
    '${imports.a}',
    '${1/0}',
    '${deployItems.a.exports.b}',
    '{{a}}',
  ],
  ...['../../etc/passwd', '/dev/stdin', 'file:///etc/passwd', '--undo', '-', 'a=b', 'a'.repeat(63), 'a'.repeat(64)],
  ...[
    LONG,
    LONG.repeat(100),
    `${'('.repeat(200)}`,
    '${(((((((1)))))))}',
    '${"a".matches("(a+)+$")}',
    '${[1].map(x, [1])}',
  ],
  ...['WzEsIjQ0M3U1TTc3VEJLciJd', 'WyJhIl0', 'W10', 'bnVsbA', 'e30', 'WzFlMzA5LCJhIl0', 'WyJhIiwxLCJiIl0', '=', '!!!!'],
  ...[
    '0',
    '1',
    '-1',
    '1.5',
    '1e309',
    '9007199254740993',
    '9223372036854775807',
    '9223372036854775808',
    'NaN',
    'Infinity',
  ],
  ...[
    '1970-01-01T00:00:00Z',
    '2026-11-23',
    '0000-00-00T00:00:00Z',
    '-000001-01-01T00:00:00Z',
    '+275760-09-13T00:00:00Z',
  ],
  ...[
    '294277-01-01T00:00:00Z',
    '2026-02-30T00:00:00Z',
    'true',
    'undefined',
    '[object Object]',
    'NORMAL',
    'INSTALLATION',
  ],
  ...[
    '00000000-0000-0000-0000-000000000000',
    '01a2086f-5114-77c5-9c7f-eacb2136b2eb',
    'ffffffff-ffff-ffff-ffff-ffffffffffff',
  ],
  ...[
    '01A2086F-5114-77C5-9C7F-EACB2136B2EB',
    '01a2086f511477c59c7feacb2136b2eb',
    '1:0',
    '1:99',
    '99999999999999999999:0',
    ':',
  ],
]
const NUMBERS = [
  0,
  1,
  2,
  -1,
  50,
  500,
  501,
  1.5,
  -0,
  65_536,
  2 ** 31 - 1,
  2 ** 31,
  -(2 ** 31) - 1,
  2 ** 53,
  1e15,
  1e308,
  -1e308,
]

export const text = (tape: Tape): string => (tape.once(3) ? tape.pick(KNOWN) : tape.pick(TEXTS))
export const id = (tape: Tape): string => (tape.once(4) ? tape.pick(TEXTS) : tape.pick(KNOWN))
export const number = (tape: Tape): number => tape.pick(NUMBERS)

/** Any JSON. */
export function json(tape: Tape, depth = 0): unknown {
  if (depth > 4 || tape.isOver) return tape.pick([null, 1, 'a', true])
  switch (tape.int(8)) {
    case 0:
      return tape.pick([null, true, false])
    case 1:
      return number(tape)
    case 2:
    case 3:
      return text(tape)
    case 4:
      return tape.list(6, () => json(tape, depth + 1))
    case 5:
    case 6:
      return record(tape.list(6, () => [text(tape), json(tape, depth + 1)] as const))
    default:
      return tape.pick<() => unknown>([
        () => nested(63),
        () => nested(65),
        () => nested(300),
        () => ({ $ref: '#' }),
        () => ({ type: 'object', properties: { a: { $ref: '#/properties/a' } } }),
        () => ({ pattern: '(a+)+$' }),
        () => Array.from({ length: 3_000 }, (_, i) => i),
        () => record([['__proto__', { polluted: true }]]),
        () => record([['constructor', { prototype: { polluted: true } }]]),
      ])()
  }
}

/** As JSON.parse makes it: also with an own `__proto__`. */
const record = (entries: readonly (readonly [string, unknown])[]): object =>
  JSON.parse(`{${entries.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value) ?? null}`).join()}}`)

const nested = (depth: number): unknown => JSON.parse(`${'['.repeat(depth)}${']'.repeat(depth)}`)
