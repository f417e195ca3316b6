import type { Line } from '../test/testkit/run-report.ts'

/** What a run of vitest has come to. */
export interface Run {
  readonly code: number | null
  /** It was ended, since it printed and reported nothing for too long. */
  readonly hung: boolean
  readonly lines: readonly Line[]
}

export type Verdict =
  | { readonly is: 'green' }
  | { readonly is: 'red'; readonly why: string }
  /** Its red files may be flaky: each is run again, alone. */
  | { readonly is: 'again'; readonly files: readonly string[] }

/** More red files than this are no accident. */
export const MOST_AGAIN = 5

const redFiles = ({ lines }: Run): readonly string[] =>
  lines.flatMap((line) => (line.type === 'file' && !line.ok ? [line.file] : []))

/** @param isSeeded whether a seed reproduces the failures of a file; they are never accidents */
export function judgeRun(run: Run, isSeeded: (file: string) => boolean): Verdict {
  const { code, hung, lines } = run
  if (hung) return { is: 'red', why: 'it hung, and was ended' }
  const end = lines.find((line) => line.type === 'end')
  if (!end) return { is: 'red', why: `vitest ended with ${code} before its end` }
  if (end.unhandled.length > 0) return { is: 'red', why: `an unhandled error: ${end.unhandled[0]}` }
  if (!lines.some((line) => line.type === 'test' && line.state === 'passed')) return { is: 'red', why: 'no test ran' }
  const files = redFiles(run)
  if (code === 0 && files.length === 0) return { is: 'green' }
  if (files.length === 0) return { is: 'red', why: `vitest ended with ${code}` }
  if (files.length > MOST_AGAIN) return { is: 'red', why: `${files.length} red files` }
  const seeded = files.find(isSeeded)
  return seeded ? { is: 'red', why: `${seeded} fails with its seed` } : { is: 'again', files }
}

/** The failed tests of a file, each with its first error; or the error of the file itself. */
export function failuresOf({ lines }: Run, file: string): readonly { readonly name: string; readonly error: string }[] {
  const ofFile = lines.filter((line) => line.type !== 'end' && line.file === file)
  const tests = ofFile.flatMap((line) =>
    line.type === 'test' && line.state === 'failed' ? [{ name: line.name, error: line.error ?? '' }] : [],
  )
  const errors = ofFile.flatMap((line) => (line.type === 'file' ? line.errors : []))
  return tests.length > 0 ? tests : [{ name: '(the file)', error: errors[0] ?? '' }]
}

/** Whether a second run shows that the failures of a file were an accident: each of its red tests was seen to pass. */
export function isFlake(first: Run, file: string, second: Run): boolean {
  if (judgeRun(second, () => false).is !== 'green') return false
  const passed = new Set(
    second.lines.flatMap((line) => (line.type === 'test' && line.state === 'passed' ? [line.name] : [])),
  )
  return failuresOf(first, file).every(({ name }) => name === '(the file)' || passed.has(name))
}
