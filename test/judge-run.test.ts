import { expect, test } from 'vitest'
import { isFlake, judgeRun, MOST_AGAIN, type Run } from '../scripts/judge-run.ts'
import type { Line } from './testkit/run-report.ts'

/** A run in which the named files are red, each with one red test beside a green one. */
function runOf(red: readonly string[], more: Partial<Run> = {}): Run {
  const lines = [...red, 'test/green.test.ts'].flatMap((file): Line[] => [
    { type: 'test', file, name: 'stays', state: 'passed' },
    { type: 'test', file, name: 'varies', state: red.includes(file) ? 'failed' : 'passed', error: 'no' },
    { type: 'file', file, ok: !red.includes(file), ms: 1, cpuMs: 1, errors: [] },
  ])
  const end: Line = { type: 'end', reason: red.length > 0 ? 'failed' : 'passed', unhandled: [] }
  return { code: red.length > 0 ? 1 : 0, lines: [...lines, end], ...more }
}
/** The lines of a run with a red file and an unhandled error. */
const unhandledIn = (file: string | null): readonly Line[] => [
  ...runOf(files(1)).lines.slice(0, -1),
  { type: 'end', reason: 'failed', unhandled: [{ file, error: 'x' }] },
]
const files = (count: number): readonly string[] => Array.from({ length: count }, (_, index) => `test/${index}.test.ts`)

test('a run without a red file is green', () => {
  expect(judgeRun(runOf([]))).toEqual({ is: 'green' })
})

test('a few red files are run again; one more is red at once', () => {
  expect(judgeRun(runOf(files(MOST_AGAIN)))).toEqual({ is: 'again', files: files(MOST_AGAIN) })
  expect(judgeRun(runOf(files(MOST_AGAIN + 1))).is).toBe('red')
})

test('a failure that a seed reproduces is never run again', () => {
  const error = 'Property failed after 3 tests'
  const lines = runOf(files(1)).lines.map((line) =>
    line.type === 'test' && line.state === 'failed' ? { ...line, error } : line,
  )
  expect(judgeRun(runOf(files(1), { lines })).is).toBe('red')
})

test('what a red file leaves unhandled is judged by its second run', () => {
  const lines = unhandledIn('test/0.test.ts')
  expect(judgeRun(runOf(files(1), { lines }))).toEqual({ is: 'again', files: ['test/0.test.ts'] })
})

test.each([
  ['that hangs', { ended: 'hung' }],
  ['that is interrupted', { ended: 'interrupted' }],
  ['that ends before its end, as by a crash', { lines: runOf(files(1)).lines.slice(0, -1) }],
  ['with an unhandled error in a file that is green', { lines: unhandledIn('test/green.test.ts') }],
  ['with an unhandled error of no file', { lines: unhandledIn(null) }],
  ['that runs nothing', { code: 0, lines: [{ type: 'end', reason: 'passed', unhandled: [] } as const] }],
  ['that fails for no file', { code: 1, lines: runOf([]).lines }],
] satisfies [string, Partial<Run>][])('a run %s is red', (_, more) => {
  expect(judgeRun(runOf(files(1), more)).is).toBe('red')
})

test('a file is flaky only if its red tests are seen to pass', () => {
  const [file = ''] = files(1)
  const first = runOf([file])
  const green = { ...runOf([]), lines: runOf([]).lines.map((line) => (line.type === 'end' ? line : { ...line, file })) }
  expect(isFlake(first, file, green)).toBe(true)
  expect(isFlake(first, file, runOf([file]))).toBe(false)
  const without = green.lines.filter((line) => line.type !== 'test' || line.name !== 'varies')
  expect(isFlake(first, file, { ...green, lines: without })).toBe(false)
  // Nothing says which of two tests of one name was red.
  const twice = (run: Run, state: string): Run => ({
    ...run,
    lines: [{ type: 'test', file, name: 'varies', state }, ...run.lines],
  })
  expect(isFlake(twice(first, 'passed'), file, green)).toBe(false)
  expect(isFlake(twice(first, 'passed'), file, twice(green, 'passed'))).toBe(true)
})
