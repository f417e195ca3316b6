import type { Tape } from './tape.ts'
import { json, text } from './values.ts'

/** Texts of manifests: plausible ones with parts that YAML allows and nobody expects. */
export const manifest = (tape: Tape): string => {
  const whole = [document(tape), ...tape.list(3, () => document(tape))].join('\n---\n')
  if (!tape.once(5)) return whole
  const at = tape.int(Math.max(1, whole.length))
  return `${whole.slice(0, at)}${tape.pick([text(tape), '*a', '&a', '!!js/function', '\t', ': :', '{', '<<: *a', '? ', '%YAML 9', '...'])}${whole.slice(at)}`
}

function document(tape: Tape): string {
  const kind = tape.pick([
    'Installation',
    'Task',
    'Project',
    'installation',
    'Nothing',
    '__proto__',
    'constructor',
    '1',
  ])
  const lines = [`kind: ${kind}`, `name: ${scalar(tape)}`, ...tape.list(8, () => `${key(tape)}: ${value(tape, 1)}`)]
  return tape.pick<() => string>([
    () => lines.join('\n'),
    () => `spec: ${value(tape, 1)}\n${lines.join('\n')}`,
    () => JSON.stringify({ kind, name: text(tape), spec: json(tape) }),
    () => value(tape, 0),
    () => bomb(tape),
  ])()
}

const key = (tape: Tape): string =>
  tape.pick([
    ...[
      'spec',
      'labels',
      'project',
      'imports',
      'exports',
      'deployItems',
      'installations',
      'jobs',
      'gadget',
      'dependsOn',
      'config',
    ],
    ...[
      'workerTemplate',
      'subscriptions',
      'limits',
      'secrets',
      'timeouts',
      'from',
      'value',
      'schema',
      'name',
      'kind',
      'type',
    ],
    ...['__proto__', 'constructor', '<<', '? [a]\n', '"\\ud800"', '*a', '&a b', '1', 'null', '""', scalar(tape)],
  ])

const scalar = (tape: Tape): string =>
  tape.pick([
    ...[
      'a',
      'fuzz',
      '1',
      '1e999',
      '.nan',
      '-.inf',
      '0x1f',
      '0o17',
      'null',
      '~',
      'true',
      'yes',
      '2026-11-23',
      '""',
      "''",
    ],
    ...[
      '"\\u0000"',
      '"\\ud800"',
      '!!binary aGk=',
      '!!set {a}',
      '!!omap [a: 1]',
      '!custom a',
      '!!int "x"',
      '!!timestamp x',
      '@a',
      '`a',
    ],
    ...[
      '|\n  text\n',
      '>\n  folded\n',
      '5m',
      '-1s',
      '1e9h',
      '${imports.a}',
      '*a',
      '&a 1',
      JSON.stringify(text(tape)).slice(0, 200),
    ],
  ])

function value(tape: Tape, depth: number): string {
  if (depth > 4 || tape.isOver) return scalar(tape)
  return tape.pick<() => string>([
    () => scalar(tape),
    () => `{${tape.list(5, () => `${key(tape)}: ${value(tape, depth + 1)}`).join(', ')}}`,
    () => `[${tape.list(5, () => value(tape, depth + 1)).join(', ')}]`,
    () => `&a ${value(tape, depth + 1)}`,
    () => '&a [*a]',
    () => '&a {b: *a}',
    () => `${'['.repeat(tape.pick([10, 100, 3_000]))}`,
  ])()
}

/** Small texts of large values. */
const bomb = (tape: Tape): string =>
  tape.pick<() => string>([
    () => `${'- '.repeat(2_000)}a`,
    () => `a: ${'{a: '.repeat(1_000)}1${'}'.repeat(1_000)}`,
    () =>
      [
        'a0: &a0 [x, x]',
        ...Array.from({ length: 20 }, (_, n) => `a${n + 1}: &a${n + 1} [*a${n}, *a${n}, *a${n}]`),
      ].join('\n'),
    () => `kind: Installation\nname: a\nspec: &a {installations: [{name: b, spec: *a}]}`,
    () => `kind: Task\nname: a\njobs: &a [{name: a, gadget: a, dependsOn: *a}]`,
    () => `${'a'.repeat(100_000)}: 1`,
    () => Array.from({ length: 1_000 }, (_, n) => `k${n}: 1`).join('\n'),
    () => '---\n'.repeat(3_000),
  ])()
