import { afterAll, describe, expect, test } from 'vitest'
import { createSandbox, type Sandbox } from '../../src/sandbox/index.ts'
import { ruleProblems } from '../../src/sandbox/readiness.ts'
import { e } from './expressions.ts'

const sandbox = createSandbox()
afterAll(() => sandbox[Symbol.asyncDispose]())

const imports = {
  host: 'db.local',
  port: 5432,
  ratio: 1.5,
  on: true,
  none: null,
  list: [3, 1, 2],
  map: { a: { b: 'deep' }, 'x-y': 1 },
  big: 2 ** 60,
}
const chatty = Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`k${i}`, i]))
const deployItems = { 'my-db': { exports: { url: 'pg://x' } }, quiet: { exports: {} }, chatty: { exports: chatty } }
const scope = { imports, deployItems }

async function resolve(template: unknown, given: Record<string, unknown> = scope) {
  const [result] = await sandbox.resolve([{ template, scope: given }])
  if (!result) throw new Error('no result')
  return result
}
const value = async (source: string) => {
  const result = await resolve(e(source))
  return result.ok ? result.value : new Error(result.message)
}

describe('templates', () => {
  test('a whole expression yields the value itself, anything else is text', async () => {
    const template = {
      whole: e('imports.map'),
      spaced: ` ${e('imports.port')}`,
      text: `${e('imports.host')}:${e('imports.port')}/${e('imports.none')}${e('imports.list')}`,
      nested: [{ url: e('deployItems["my-db"].exports.url') }],
      [e('key')]: 7,
      [`$${e('KEY')}`]: 8,
      escaped: `$${e('HOME')} costs $5 ${e('imports.on')}`,
    }
    expect(await resolve(template)).toEqual({
      ok: true,
      value: {
        whole: imports.map,
        spaced: ' 5432',
        text: 'db.local:5432/null[3,1,2]',
        nested: [{ url: 'pg://x' }],
        [e('key')]: 7,
        [e('KEY')]: 8,
        escaped: `${e('HOME')} costs $5 true`,
      },
    })
  })

  test('names of prototypes are neither reached nor lost', async () => {
    const template = JSON.parse(`{"__proto__": "${e('imports.x')}", "constructor": 1}`)
    const result = await resolve(template, { imports: { x: 'own' } })
    expect(JSON.stringify(result)).toBe('{"ok":true,"value":{"__proto__":"own","constructor":1}}')
    expect(await resolve(e('constructor'))).toMatchObject({ ok: false, message: 'constructor is not known here' })
    expect(await resolve(e('imports.constructor'))).toMatchObject({ ok: false })
  })
})

describe('values', () => {
  test.each<[string, unknown]>([
    ['imports.port + 1', 5433],
    ['imports.port > 80 && imports.port < 1e4', true],
    ['imports.ratio * 2', 3],
    ['10 / imports.ratio > 6.6', true],
    ['imports.port / 1000', 5],
    ['imports.list.map(x, x * 10).filter(x, x > 10)', [30, 20]],
    ['imports.list[0] + size(imports.list)', 6],
    ['imports.list[imports.list[1]]', 1],
    ['has(imports.nope) ? imports.nope : "default"', 'default'],
    ['imports.map == {"a": {"b": "deep"}, "x-y": 1}', true],
    ['imports.map.map(k, k)', ['a', 'x-y']],
    ['"a" in imports.map', true],
    ['"n=" + string(imports.port)', 'n=5432'],
    ['{"u": 7u, 1: true, "n": imports.none}', { u: 7, 1: true, n: null }],
    ['bytes("hi")', 'aGk='],
    ['timestamp("2024-02-29T12:00:00Z") + duration("1h")', '2024-02-29T13:00:00Z'],
    ['duration("90s")', '90s'],
    ['"A,b".lowerAscii().split(",").join("-")', 'a-b'],
    ['imports.host.matches("^db[.]")', true],
  ])('%s', async (source, expected) => {
    expect(await value(source)).toEqual(expected)
  })

  test.each([
    ['1.0 / 0.0', 'the result is not a finite number'],
    ['9007199254740993', 'the result is a whole number too large for JSON: use string(…)'],
    ['1e21', 'the result is a whole number too large for JSON: use string(…)'],
    ['[9007199254740991.0 + 1.0]', 'the result is a whole number too large for JSON: use string(…)'],
    [String.raw`"a\u0000"`, 'the result holds the character NUL'],
    [String.raw`{"a\000": 1}`, 'the result holds the character NUL'],
    ['type(1)', 'the result is a type, which is not JSON'],
    ['1 +', 'the expression has a syntax error near character'],
    ['imports.host + 1', '+ cannot be applied to (string, int) (character 14 of the expression)'],
    ['imports.nope', 'the import nope has no value'],
    ['imports.map.nope', 'there is no field nope in imports.map'],
    ['imports.map.a.b.c.d', 'there is no field c in imports.map.a.b'],
    ['imports.list.map(x, x.nope)', 'there is no field nope'],
    ['deployItems["my-db"].exports.image', 'my-db has exported no image (it exports: url)'],
    ['deployItems["my-db"].exports["image"] + "x"', 'my-db has exported no image (it exports: url)'],
    ['deployItems["my-db"].exports.url + deployItems.quiet.exports.url', 'quiet has exported nothing'],
    ['deployItems.chatty.exports.z', 'no z (it exports: k0, k1, k2, k3, k4, k5, k6, k7, k8, k9 and 2 more)'],
    ['deployItems.quiet.exports[imports.host]', 'there is no such field'],
    ['outputs.x', 'outputs is not known here'],
    ['', 'the expression is empty'],
    ['google.protobuf.Timestamp{seconds: 1}', 'it may not create messages, only maps'],
    [`[1].map(a, [1].map(b, [1].map(c, c)))`, 'macros are nested more than 2 deep'],
    [`[${'1,'.repeat(500)}1]`, 'more than 500 syntax nodes'],
  ])('refuses %s', async (source, message) => {
    const result = await resolve({ a: [e(source)] })
    expect(result).toMatchObject({ ok: false, message: expect.stringContaining(message) })
    expect(result).toMatchObject({ message: expect.stringMatching(/^a\.0: /) })
  })

  test('an expression within a longer text is named by its place there', async () => {
    const text = `a: 1\nb: ${e('imports.port')} ${e('imports.nope')}`
    expect(await resolve({ text })).toEqual({
      ok: false,
      message: 'text: line 2, column 20 of the text: the import nope has no value (character 8 of the expression)',
    })
  })

  test('messages name the place and never a value', async () => {
    const secrets = { imports: { password: 'hunter2', map: { hunter2: 'hunter2' }, list: ['hunter2'], n: 424242 } }
    const sources = [
      'imports.map[imports.password + "x"]',
      'int(imports.password)',
      'bool(imports.password)',
      'timestamp(imports.password)',
      'duration(imports.password)',
      'imports.password * 2',
      'imports.list[imports.n]',
      'imports.password.charAt(imports.n)',
      'imports.password.matches(imports.password + "(")',
      '{imports.password: 1, imports.password: 2}',
      'imports.password.nope',
      'imports.password.format([1, 2])',
      'imports.password && true',
      'imports.password ? 1 : 2',
      'imports.password.map(x, x)',
      '9223372036854775807 + imports.n',
    ]
    const results = await sandbox.resolve(sources.map((source) => ({ template: e(source), scope: secrets })))
    for (const [i, result] of results.entries()) {
      expect([sources[i], result]).toEqual([sources[i], { ok: false, message: expect.stringMatching(/\w+ \w+/) }])
      expect(JSON.stringify(result)).not.toMatch(/hunter2|424242/)
    }
  })

  test('inputs beyond the limits, or not JSON, are refused one by one', async () => {
    let deep: unknown = 1
    for (let i = 0; i < 100_000; i++) deep = [deep]
    const circular: Record<string, unknown> = {}
    circular.self = circular
    const results = await sandbox.resolve([
      { template: deep, scope: {} },
      { template: e('imports.x'), scope: { imports: deep } },
      { template: circular, scope: {} },
      { template: { f: () => 1 }, scope: {} },
      { template: 'x'.repeat(2 ** 20), scope: {} },
      { template: e('imports.s'), scope: { imports: { s: 'x'.repeat(2 ** 20) } } },
      { template: `${'$'}{never closed`, scope: {} },
      { template: e('1 + 1'), scope: {} },
    ])
    expect(results.map((r) => (r.ok ? r.value : r.message.replace(/\d+/g, '#')))).toEqual([
      'the template is nested more than # levels deep',
      'what the expressions refer to is nested more than # levels deep',
      'the template is nested more than # levels deep',
      'the template.f is not JSON but a function',
      'the template is larger than # characters',
      'the result is larger than # characters',
      'the expression at line #, column # of the text is never closed',
      2,
    ])
  })
})

describe('a template, and what it becomes, may be as large as a config without expressions', () => {
  const half = 2 ** 19
  const values = {
    text: '\n'.repeat(half),
    list: Array.from({ length: 50_000 }, (_, i) => ({ i, on: true })),
    old: 2 ** 60,
    short: 's',
  }

  test.each<[string, unknown, unknown]>([
    ['texts and escapes', `$${e('HOME')}\n`.repeat(half / 8), `${e('HOME')}\n`.repeat(half / 8)],
    ['a long text among expressions', `${e('imports.short')}${'"'.repeat(half)}`, `s${'"'.repeat(half)}`],
    ['a value that is passed on', { v: e('imports.text') }, { v: values.text }],
    ['one that takes too long to convert', [e(' imports["list"] ')], [values.list]],
    ['one that was stored by an older version', e('imports.old'), 2 ** 60],
    ['a value in a text', `a ${e('imports.text')}`, `a ${values.text}`],
    ['a text that an expression builds', e('imports.text + "a"'), `${values.text}a`],
    ['no more than whether it is there', [e('has(imports.text)'), e('has(imports.nope)')], [true, false]],
  ])('%s', async (_, template, expected) => {
    const result = await resolve(template, { imports: values })
    // A difference would be printed whole.
    const found = result.ok ? JSON.stringify(result.value) === JSON.stringify(expected) : result.message
    expect(found).toBe(true)
  })

  test('but no larger, however often it repeats a value', async () => {
    const twice = [e('imports.text'), e('imports.text')]
    const message = 'the result is larger than 1048576 characters'
    expect(await resolve(twice, { imports: values })).toEqual({ ok: false, message })
    expect(await resolve(e('[imports.text, imports.text]'), { imports: values })).toEqual({ ok: false, message })
    expect(await resolve(e('has(imports.text).nope'), { imports: values })).toMatchObject({ ok: false })
  })
})

describe('analyze', () => {
  test.each<[string, string[][]]>([
    ['imports.x', [['imports', 'x']]],
    ['imports["x-y"].z + 1', [['imports', 'x-y', 'z']]],
    ['deployItems.db.exports.url', [['deployItems', 'db', 'exports', 'url']]],
    [`.deployItems["my-db"].exports.list[0].name`, [['deployItems', 'my-db', 'exports', 'list']]],
    [
      'installations.a.exports[imports.key]',
      [
        ['imports', 'key'],
        ['installations', 'a', 'exports'],
      ],
    ],
    ['has(deployItems.db.exports.url) ? deployItems.db.exports.url : ""', [['deployItems', 'db', 'exports', 'url']]],
    ['imports.list.map(deployItems, deployItems.name)', [['imports', 'list']]],
    [
      'imports.list.all(x, x in deployItems.a.exports.set)',
      [
        ['imports', 'list'],
        ['deployItems', 'a', 'exports', 'set'],
      ],
    ],
    ['strings.quote(imports.s) + string(type(imports.s) == string)', [['imports', 's']]],
    ['{"k": imports.a}.k', [['imports', 'a']]],
    ['1 + 1', []],
  ])('%s', async (source, references) => {
    expect(await sandbox.analyze([source])).toEqual([{ ok: true, references }])
  })

  test.each([
    ['secrets.x', 'secrets is not known: an expression may speak of imports, deployItems, installations, each'],
    ['deployItems[imports.name].exports.x', 'deployItems must be followed by a constant name'],
    ['installations.map(i, 1)', 'installations must be followed by a constant name'],
    ['(imports.a ? deployItems : imports).x', 'deployItems must be followed by a constant name'],
    ['imports.a.frobnicate()', 'there is no function frobnicate'],
    ['imports.', 'syntax error'],
    ['x'.repeat(70_000), 'longer than 65536 characters'],
  ])('refuses %s', async (source, message) => {
    const [result] = await sandbox.analyze([source])
    expect(result).toMatchObject({ ok: false, message: expect.stringContaining(message) })
  })
})

test('readiness rules of all items are read in one call', async () => {
  let calls = 0
  const analyze: Sandbox['analyze'] = async (...given) => {
    calls += 1
    return await sandbox.analyze(...given)
  }
  const rule = (ready: string) => ({ readiness: [{ kind: 'Job', ready }] })
  const configs = ['object.status.ok', '1 +', e('imports.rule'), 'imports.a'].map((ready, i) => ({
    value: rule(ready),
    at: `config.${i}`,
  }))
  expect(await ruleProblems({ analyze }, configs)).toMatchObject([
    { path: 'config.1.readiness.0.ready', message: expect.stringContaining('syntax error') },
    { path: 'config.3.readiness.0.ready', message: expect.stringContaining('imports is not known') },
  ])
  expect(calls).toBe(1)
})
