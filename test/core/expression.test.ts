import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { findExpressions, hasExpressions, parseText } from '../../src/core/expression.ts'
import { e } from '../sandbox/expressions.ts'

const sources = (text: string) => findExpressions(text).map((found) => found.source)

describe('findExpressions', () => {
  test('returns the path of each, in order, and which are whole', () => {
    const value = { a: e('x'), b: [{ c: `p-${e('y')}-${e('z')}` }, 1, null], [e('key')]: 'plain', [`$${e('HOME')}`]: 1 }
    expect(findExpressions(value)).toEqual([
      {
        path: '',
        source: '${',
        whole: false,
        problem: expect.stringContaining(`has the key "${e('key')}": expressions are no keys`),
      },
      { path: 'a', source: 'x', whole: true },
      { path: 'b.0.c', source: 'y', whole: false, place: { line: 1, column: 3 } },
      { path: 'b.0.c', source: 'z', whole: false, place: { line: 1, column: 8 } },
    ])
  })

  test('a longer text has the place of each', () => {
    const text = `${e('a')}\n\n  ${e('b\n')} ${e('c')}${e('d')}\n${'$'}{`
    const found = findExpressions({ text: text.slice(0, -3) })
    expect(found.map(({ source, place }) => [source, place?.line, place?.column])).toEqual([
      ['a', 1, 1],
      ['b\n', 3, 3],
      ['c', 4, 3],
      ['d', 4, 7],
    ])
    const literal = `(a literal ${'$'}{ is written $${'$'}{)`
    expect(findExpressions(text)[0]?.problem).toBe(
      `the expression at line 5, column 1 of the text is never closed ${literal}`,
    )
  })

  test.each([
    ['maps', '{"a": {"b": 1}}["a"]'],
    ['braces in strings', '"}" + \'{\''],
    ['escaped quotes', '"\\"}" + "x"'],
    ['raw strings end at the first quote', 'r"\\" + "}"'],
    ['triple quotes', '"""a "}" \n b""" + \'\'\'}\'\'\''],
    ['comments', 'x // not yet }\n + y'],
  ])('is not misled by %s', (_, source) => {
    expect(sources(`a ${e(source)} b`)).toEqual([source])
  })

  test.each([`${'$'}{a`, `${'$'}{"}`, `${'$'}{{a}`, `${e('ok')} ${'$'}{`])(
    'reports what is never closed: %s',
    (text) => {
      const [problem] = findExpressions([text])
      expect(problem).toMatchObject({ path: '0', whole: false, problem: expect.stringMatching('never closed') })
    },
  )

  test('an escape is text, not an expression, but still wants to be resolved', () => {
    const text = `$${e('HOME')}`
    expect(findExpressions(text)).toEqual([])
    expect(hasExpressions({ a: [text] })).toBe(true)
    expect(hasExpressions({ a: ['$ {x}', '$', '{}', 7] })).toBe(false)
  })

  test('depth and size are bounded, and no depth overflows the stack', () => {
    let deep: unknown = e('x')
    for (let i = 0; i < 100_000; i++) deep = [deep]
    expect(findExpressions(deep)[0]?.problem).toMatch('nested more than 64')
    expect(hasExpressions(deep)).toBe(true)
    const large = 'x'.repeat(2 ** 20)
    expect(hasExpressions([large])).toBe(false)
    expect(hasExpressions([large, e('x')])).toBe(true)
    expect(findExpressions([large, e('x')])[0]?.problem).toMatch('larger than 1048576')
  })

  test('literal text and expressions put together are the text again', () => {
    const safe = fc.string().map((text) => text.replaceAll('$', ''))
    const part = fc.oneof(safe, fc.constantFrom('a.b', '{"k": "}"}', "'}'").map(e))
    fc.assert(
      fc.property(fc.array(part), (parts) => {
        const parsed = parseText(parts.join(''))
        if (!parsed.ok) throw new Error(parsed.message)
        expect(parsed.parts.map((p) => (typeof p === 'string' ? p : e(p.source))).join('')).toBe(parts.join(''))
      }),
    )
  })
})
