import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Line } from '../test/testkit/run-report.ts'
import type { Run } from './judge-run.ts'

const ROOT = join(import.meta.dirname, '..')
const SILENCE_MS = 300_000
const LOOK_MS = 5_000

/**
 * Runs vitest, and reads what it reports. A run that reports nothing for five minutes is ended: a test ends by its own timeout
 * earlier.
 * @param before shell commands to run in the same shell before it, such as those that provide a cluster
 */
export async function runVitest(args: readonly string[], before: readonly string[] = []): Promise<Run> {
  const folder = mkdtempSync(join(tmpdir(), 'phaseline-report-'))
  const report = join(folder, 'lines')
  try {
    const env = { ...process.env, PHASELINE_TEST_REPORT: report }
    const script = [
      ...before,
      'node_modules/.bin/vitest run --reporter=default --reporter=./test/testkit/run-report.ts "$@"',
    ]
    const child = spawn('bash', ['-euc', script.join('\n'), 'vitest', ...args], {
      ...{ cwd: ROOT, env, stdio: ['ignore', 'inherit', 'inherit'], detached: true },
    })
    const group = child.pid ?? 0
    const stop = (signal: NodeJS.Signals): void => {
      try {
        process.kill(-group, signal)
      } catch {
        // All of it has ended.
      }
    }
    const interrupted = (): void => stop('SIGINT')
    process.on('SIGINT', interrupted).on('SIGTERM', interrupted)
    let hung = false
    let heard = Date.now()
    const watch = setInterval(() => {
      heard = Math.max(heard, statSync(report, { throwIfNoEntry: false })?.mtimeMs ?? 0)
      hung ||= Date.now() - heard > SILENCE_MS + (before.length > 0 ? SILENCE_MS : 0)
      if (hung) stop('SIGKILL')
    }, LOOK_MS)
    const code = await new Promise<number | null>((resolve) => {
      child.once('error', () => resolve(null))
      child.once('exit', resolve)
    })
    clearInterval(watch)
    process.off('SIGINT', interrupted).off('SIGTERM', interrupted)
    return { code, hung, lines: readLines(report) }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function readLines(path: string): readonly Line[] {
  if (!statSync(path, { throwIfNoEntry: false })) return []
  const lines = readFileSync(path, 'utf8').split('\n')
  return lines.filter((line) => line.endsWith('}')).map((line) => JSON.parse(line) as Line)
}
