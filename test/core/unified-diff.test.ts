import { expect, test } from 'vitest'
import { fitChanges } from '../../src/core/dry-run.ts'
import { unifiedDiff } from '../../src/core/unified-diff.ts'
import { mulberry32 } from '../testkit/mulberry32.ts'

const textOf = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('')

/** The text that the hunks make of another one. */
function apply(before: readonly string[], diff: string): readonly string[] {
  const after: string[] = []
  let at = 0
  for (const line of diff === '' ? [] : diff.split('\n')) {
    const [, from, count] = /^@@ -(\d+),(\d+) /.exec(line) ?? []
    if (from !== undefined) while (at < Number(from) - (count === '0' ? 0 : 1)) after.push(before[at++] ?? '')
    else if (line.startsWith('+')) after.push(line.slice(1))
    else {
      expect(before[at++]).toBe(line.slice(1))
      if (line.startsWith(' ')) after.push(line.slice(1))
    }
  }
  return [...after, ...before.slice(at)]
}

test('a diff makes one text of the other, whatever they are', () => {
  const random = mulberry32(7)
  const below = (count: number): number => Math.floor(random() * count)
  for (let round = 0; round < 500; round += 1) {
    const before = Array.from({ length: below(30) }, () => `line ${below(6)}`)
    const after = [...before]
    for (let edit = below(6); edit > 0; edit -= 1) after.splice(below(after.length + 1), below(3), `line ${below(8)}`)
    expect(apply(before, unifiedDiff(textOf(before), textOf(after)))).toEqual(after)
  }
  expect(unifiedDiff('a\n', 'a\n')).toBe('')
  const many = Array.from({ length: 1_000 }, (_, i) => `${i}`)
  const others = many.map((line) => `other ${line}`)
  expect(apply(many, unifiedDiff(textOf(many), textOf(others)))).toEqual(others)
})

test('what does not fit is left out, diffs first, and said', () => {
  const change = { kind: 'Thing', name: 'a', action: 'UPDATE', fields: [{ path: 'p' }], diff: 'x'.repeat(100) } as const
  expect(fitChanges([change], 1_000)).toEqual({ changes: [change], truncated: false })
  expect(fitChanges([change], 120)).toEqual({ changes: [{ ...change, diff: null }], truncated: true })
  expect(fitChanges([change], 10)).toEqual({ changes: [], truncated: true })
})
