import { describe, expect, test } from 'vitest'
import { Mask } from '../../src/agents/mask.ts'
import { LIMITS } from '../../src/core/limits.ts'
import { Output } from '../../src/families/pipelines/agents/runtime/output.ts'

const MAX = LIMITS.logLine.max

function linesOf(text: string, secrets: readonly string[] = []): readonly string[] {
  const lines: string[] = []
  const output = new Output({ mask: new Mask(secrets), onLine: (_, line) => lines.push(line) })
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += 1_000) output.write('STDOUT', bytes.subarray(at, at + 1_000))
  output.end()
  return lines
}

describe('a line of output', () => {
  test.each(['a', 'я', '漢', '🙂'])(
    'is whole with as many characters as a log line has, each of them %s',
    (character) => {
      const line = character.repeat(MAX / character.length)
      expect(linesOf(`${line}\n`)).toEqual([line])
    },
  )

  test.each(['a', 'я', '漢', '🙂'])(
    'is cut with a mark, and within no character, if it has more than these of %s',
    (character) => {
      for (const before of ['', '.', '..', '...']) {
        const [line = '', ...others] = linesOf(`${before}${character.repeat(MAX)}.tail\n`)
        expect(others).toEqual([])
        expect(line.length).toBeGreaterThan(MAX - 4)
        expect(line.length).toBeLessThanOrEqual(MAX)
        const [, begun, kept] = /^(\.*)(.*) … \(cut\)$/u.exec(line) ?? []
        expect([begun, kept]).toEqual([before, character.repeat((kept ?? '').length / character.length)])
      }
    },
  )

  test('is masked before it is cut', () => {
    const [line] = linesOf(`${'x'.repeat(MAX - 15)}the secret${'x'.repeat(MAX)}\n`, ['the secret'])
    expect(line).toBe(`${'x'.repeat(MAX - 15)}***${'x'.repeat(4)} … (cut)`)
    const secret = 's'.repeat(MAX - 1)
    expect(linesOf(`${`${secret}.`.repeat(4)}\n`, [secret])).toEqual(['***.***.***.sss … (cut)'])
  })
})
