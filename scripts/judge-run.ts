import type { Line } from '../test/testkit/run-report.ts'

/** The result of a run of vitest. */
export interface Run {
  readonly code: number | null
  /** Why it was ended before its end: it reported nothing for too long, or someone interrupted it. */
  readonly ended?: 'hung' | 'interrupted'
  readonly lines: readonly Line[]
}

export type Verdict =
  | { readonly is: 'green' }
  | { readonly is: 'red'; readonly why: string }
  /** Its red files may be flaky: each is run again, alone. */
  | { readonly is: 'again'; readonly files: readonly string[] }

/** More red files than this are no accident. */
export const MOST_AGAIN = 5

/** The message of fast-check. Its seed reproduces the failure, so that it is no accident. */
const SEEDED = /^(Error: )?Property failed after \d/

const red = (why: string): Verdict => ({ is: 'red', why })

export function judgeRun({ code, ended, lines }: Run): Verdict {
  if (ended) return red(ended === 'hung' ? 'it hung, and was ended' : 'it was interrupted')
  const end = lines.find((line) => line.type === 'end')
  if (!end) return red(`vitest ended with ${code} before its end`)
  if (!lines.some((line) => line.type === 'test' && line.state !== 'skipped')) return red('no test ran')
  const files = lines.flatMap((line) => (line.type === 'file' && !line.ok ? [line.file] : []))
  // A red test may leave promises that fail after it. The second run of its file shows whether they ever do without it.
  const unhandled = end.unhandled.find(({ file }) => file === null || !files.includes(file))
  if (unhandled) return red(`an unhandled error in ${unhandled.file ?? 'no file'}: ${unhandled.error}`)
  if (files.length === 0) return code === 0 ? { is: 'green' } : red(`vitest ended with ${code}`)
  if (files.length > MOST_AGAIN) return red(`${files.length} red files`)
  const seeded = lines.find((line) => line.type === 'test' && SEEDED.test(line.error ?? ''))
  return seeded?.type === 'test'
    ? red(`${seeded.file} > ${seeded.name}: its seed reproduces it`)
    : { is: 'again', files }
}

/** The failed tests of a file, each with its first error; or the error of the file itself. */
export function failuresOf({ lines }: Run, file: string): readonly { readonly name: string; readonly error: string }[] {
  const ofFile = lines.filter((line) => line.type !== 'end' && line.file === file)
  const tests = ofFile.flatMap((line) =>
    line.type === 'test' && line.state === 'failed' ? [{ name: line.name, error: line.error ?? '' }] : [],
  )
  const errors = ofFile.flatMap((line) => (line.type === 'file' ? line.errors : []))
  return tests.length > 0 ? tests : [{ name: WHOLE, error: errors[0] ?? '' }]
}
const WHOLE = '(the file)'

/** A second run shows that the failures of a file were an accident: as many tests of each red name pass as the file has. */
export function isFlake(first: Run, file: string, second: Run): boolean {
  if (judgeRun(second).is !== 'green') return false
  const count = ({ lines }: Run, name: string, states: readonly string[]): number =>
    lines.filter(
      (line) => line.type === 'test' && line.file === file && line.name === name && states.includes(line.state),
    ).length
  return failuresOf(first, file).every(
    ({ name }) => name === WHOLE || count(second, name, ['passed']) >= count(first, name, ['passed', 'failed']),
  )
}

/** The files that took longest, as lines of a table, each with its seconds and those of its worker's processor. */
export function longestFiles({ lines }: Run, count: number): readonly string[] {
  const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1).padStart(6)} s`
  const files = lines.flatMap((line) => (line.type === 'file' ? [line] : []))
  const longest = files.toSorted((a, b) => b.ms - a.ms).slice(0, count)
  return longest.map(({ file, ms, cpuMs }) => `${seconds(ms)}, processor ${seconds(cpuMs)}  ${file}`)
}
