import { array, assert, constantFrom, dictionary, double, integer, letrec, oneof, property, string } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { hasHidden } from '../../src/core/hidden-text.ts'
import {
  manifestSchema,
  parseManifests,
  readDocuments,
  wantedProject,
  writeManifest,
  writeProject,
} from '../../src/manifest/index.ts'
import { soak } from '../testkit/soak.ts'

/** Texts that readers of YAML take for something else, or change. */
const PITFALLS = [
  ...[
    '',
    ' ',
    '~',
    'null',
    'Null',
    'true',
    'True',
    'yes',
    'no',
    'on',
    'off',
    'y',
    'n',
    'Y',
    'NO',
    '.nan',
    '.inf',
    '-.inf',
  ],
  ...['0123', '0o17', '0x1F', '0b11', '1e3', '1_000', '1.10', '+1', '.5', '-', '--', '12:30', '12:30:45', '190:20:30'],
  ...['2024-01-01', '2024-01-01T00:00:00Z', '9007199254740993', '123456789012345678901234567890', '1e400'],
  ...[
    '<<',
    '__proto__',
    'constructor',
    'a: b',
    'a #b',
    '# a',
    '- a',
    '? a',
    ': a',
    '!a',
    '&a',
    '*a',
    '%a',
    '@a',
    '`a',
    '|',
    '>',
  ],
  ...['{a}', '[a]', '"a"', "'a'", `"'`, 'a\\b', '---', '...', '--- a', 'a\n---\nb', 'a\n...\nb', '\n---', '=', '~a'],
  ...[
    ' a',
    'a ',
    '\ta',
    'a\t',
    '\t',
    '\n',
    '\n\n',
    ' \n',
    '\n ',
    '\n a',
    ' a\nb',
    '\ta\n\tb',
    'a\n',
    'a\n\n',
    'a\n\n\n',
    '\na',
  ],
  ...[
    'a\n b\n  c\n',
    'a\n\n b',
    '  a\n b\n',
    'a\r\nb',
    'a\rb',
    'a \nb ',
    'a\n ',
    'a\n\t',
    'a\u2028b',
    'a\u0085b',
    '\ufeffa',
  ],
  ...[
    'é',
    '\u200bzero',
    'אב\u202e',
    '😀',
    '👩‍💻',
    '\u001b[31m',
    '\u007f',
    '\u00a0',
    'ａ',
    'x'.repeat(5_000),
    `${'word '.repeat(500)}end`,
  ],
  ...['k'.repeat(1_030), 'a: &b *c', '!!binary aGk=', '${imports.x}', 'a,b', 'a]', '}'],
] as const

const text = oneof(
  { arbitrary: constantFrom(...PITFALLS), weight: 5 },
  { arbitrary: string({ unit: 'binary' }).filter((one) => one.isWellFormed() && !one.includes('\0')), weight: 2 },
  {
    arbitrary: array(constantFrom('\n', ' ', '\t', 'a', '#', ':', '-', '"', "'", '|')).map((all) => all.join('')),
    weight: 3,
  },
)
const number = oneof(
  integer({ min: -Number.MAX_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER }),
  double({ noNaN: true, noDefaultInfinity: true }).filter((one) => !Number.isInteger(one) || Number.isSafeInteger(one)),
)
const { json } = letrec<{ json: unknown }>((tie) => ({
  json: oneof(
    { depthSize: 'small', withCrossShrink: true },
    oneof(text, number, constantFrom(null, true, false)),
    array(tie('json'), { maxLength: 4 }),
    dictionary(text, tie('json'), { maxKeys: 4, noNullPrototype: true }),
  ),
}))
const runs = { numRuns: soak(500, 20_000) }

const installation = (value: unknown) => ({
  ...{ name: 'a', project: 'default', labels: [], description: '', ignored: false },
  spec: { deployItems: [{ name: 'i', type: 'helm', config: { values: value } }], exports: [{ name: 'x', value }] },
})
function read(written: string): unknown {
  const parsed = parseManifests(written)
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems))
  return parsed.manifests.map(({ spec: { exports, deployItems } }) => [
    exports?.[0]?.value,
    (deployItems?.[0]?.config as { values: unknown } | undefined)?.values,
  ])
}

describe('a value that is written', () => {
  it('is read as what it was, for Kubernetes too, and hides nothing', () => {
    void assert(
      property(json, (value) => {
        const written = writeManifest(installation(value))
        expect(JSON.stringify(read(written))).toBe(JSON.stringify([[value, value]]))
        expect(hasHidden(written.replaceAll(/[\n\t]/g, ''))).toBe(false)
      }),
      runs,
    )
  })

  it('is read as what it was where other documents stand behind it, and as lines of JSON', () => {
    void assert(
      property(array(json, { minLength: 2, maxLength: 4 }), (values) => {
        const expected = JSON.stringify(values.map((value) => [value, value]))
        const yaml = values.map((value) => `---\n${writeManifest(installation(value))}`).join('')
        expect(JSON.stringify(read(yaml))).toBe(expected)
        const lines = values.map((value) => {
          const { labels: _, ...rest } = installation(value)
          return `${JSON.stringify(rest)}\n`
        })
        expect(JSON.stringify(read(lines.join('')))).toBe(expected)
      }),
      { numRuns: soak(100, 5_000) },
    )
  })
})

it('each variable of a worker is read back, whatever its name', () => {
  const env = Object.fromEntries(['__proto__', 'constructor', 'NO', 'y', '<<'].map((name) => [name, name]))
  const template = {
    ...{ runtime: 'process', image: null, command: ['a'], args: [], env, files: [], timeoutMs: null, retry: null },
    ...{
      workspace: false,
      targetLabels: {},
      limits: [],
      gate: null,
      caches: [],
      artifacts: [],
      clone: null,
      services: [],
    },
  }
  const limits = { maxWorkers: null, maxJobs: null, strategy: 'QUEUE' } as const
  const parsed = parseManifests(
    writeProject('p', { workerTemplate: template, subscriptions: [], limits, promotesTo: null }),
  )
  const [project] = parsed.ok ? parsed.projects : []
  const again = project && wantedProject(project, [])
  expect(Object.entries(again?.workerTemplate?.env ?? {})).toEqual(Object.entries(env))
})

it('a field of a later version is written, and refused by name', () => {
  const spec = { later: { a: 1 }, deployItems: [{ name: 'i', type: 'mock', more: 'x', none: null }] }
  const written = writeManifest({ ...installation(1), spec })
  const parsed = parseManifests(written)
  expect(parsed.ok ? [] : parsed.problems.map(({ path, message }) => `${path}: ${message}`).toSorted()).toEqual([
    'spec.deployItems.0: Unrecognized key: "more"',
    'spec: Unrecognized key: "later"',
  ])
})

it('lines of JSON keep their numbers', () => {
  const lines = ['{"name":"a","spec":{}}', '{"name":"b","spec":{"typo":1}}', ''].join('\n')
  const parsed = readDocuments(lines, { Installation: manifestSchema }, 'Installation')
  expect(parsed.ok ? [] : parsed.problems).toMatchObject([{ line: 2, path: 'document 2: spec' }])
})
