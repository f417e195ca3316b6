import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Line } from '../test/testkit/run-report.ts'
import type { Run } from './judge-run.ts'

const ROOT = join(import.meta.dirname, '..')
const SILENCE_MS = 300_000
const LOOK_MS = 5_000

/** The surroundings of a run, by default the project itself. */
export interface Place {
  readonly cwd?: string
  readonly env?: NodeJS.ProcessEnv
  /** Commands of the shell that run before it, such as those that provide a cluster. */
  readonly before?: readonly string[]
  /** The destination of its output, by default that of this process. */
  readonly output?: 'ignore' | 'inherit'
}

const VITEST = `'${ROOT}/node_modules/.bin/vitest' run --reporter=default --reporter='${ROOT}/test/testkit/run-report.ts' "$@"`

/**
 * Runs vitest, and reads what it reports. A run that reports nothing for five minutes is ended: a test ends by its own timeout
 * earlier.
 */
export async function runVitest(args: readonly string[], place: Place = {}): Promise<Run> {
  const { cwd = ROOT, env = {}, before = [], output = 'inherit' } = place
  const folder = mkdtempSync(join(tmpdir(), 'phaseline-report-'))
  const report = join(folder, 'lines')
  try {
    const child = spawn('bash', ['-euc', [...before, VITEST].join('\n'), 'vitest', ...args], {
      ...{ cwd, stdio: ['ignore', output, output], detached: true },
      env: { ...process.env, ...env, PHASELINE_TEST_REPORT: report },
    })
    let ended: Run['ended']
    const stop = (why: 'hung' | 'interrupted', signal: NodeJS.Signals): void => {
      ended ??= why
      try {
        process.kill(-(child.pid ?? 0), signal)
      } catch {
        // All of it has ended.
      }
    }
    const interrupted = (): void => stop('interrupted', 'SIGINT')
    process.on('SIGINT', interrupted).on('SIGTERM', interrupted)
    let heard = Date.now()
    const watch = setInterval(() => {
      heard = Math.max(heard, statSync(report, { throwIfNoEntry: false })?.mtimeMs ?? 0)
      if (Date.now() - heard > SILENCE_MS + (before.length > 0 ? SILENCE_MS : 0)) stop('hung', 'SIGKILL')
    }, LOOK_MS)
    const code = await new Promise<number | null>((resolve) => {
      child.once('error', () => resolve(null))
      child.once('exit', resolve)
    })
    clearInterval(watch)
    process.off('SIGINT', interrupted).off('SIGTERM', interrupted)
    return { code, ...(ended ? { ended } : {}), lines: readLines(report) }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function readLines(path: string): readonly Line[] {
  if (!statSync(path, { throwIfNoEntry: false })) return []
  const lines = readFileSync(path, 'utf8').split('\n')
  return lines.filter((line) => line.endsWith('}')).map((line) => JSON.parse(line) as Line)
}
