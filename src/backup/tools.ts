import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { delimiter, join } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { BackupProblem } from './backup-problem.ts'

/** pg_dump and pg_restore of this machine: the embedded Postgres does not bring them. */

type ToolName = 'pg_dump' | 'pg_restore'
export interface Tool {
  readonly name: ToolName
  readonly path: string
  readonly major: number
}
interface Needs {
  /** The major version of the server. */
  readonly server: number
  /** The major version of the pg_dump that has written the archive; absent: there is none yet. */
  readonly archive?: number
}
export interface FindOptions extends Needs {
  /** The only folder to look in; absent: PATH, and where packages of Linux put a version of their own. */
  readonly folder: string | undefined
  readonly path: string | undefined
}

const run = promisify(execFile)
const VERSION_MS = 10_000
/** Maximum number of searched entries of PATH. */
const MAX_FOLDERS = 100
/** From this version on they set a parameter that earlier servers do not have. */
const SETS_TRANSACTION_TIMEOUT = 17

/** A program reads servers and archives that are not newer than itself. An archive must fit its own server again. */
export const canServe = (major: number, { server, archive = 0 }: Needs): boolean =>
  major >= server && major >= archive && (server >= SETS_TRANSACTION_TIMEOUT || major < SETS_TRANSACTION_TIMEOUT)

/** @throws BackupProblem that says what to install */
export async function findTool(name: ToolName, { folder, path, ...needs }: FindOptions): Promise<Tool> {
  const { server } = needs
  const inPath = (path ?? '').split(delimiter).filter(Boolean).slice(0, MAX_FOLDERS)
  const folders = folder === undefined ? [...inPath, ...ofPackages(server)] : [folder]
  const found: Tool[] = []
  for (const place of new Set(folders)) {
    const tool = { name, path: join(place, name) }
    const major = await majorOf(tool.path)
    if (major !== null) found.push({ ...tool, major })
    // The version of the server itself is the best.
    if (major === server && canServe(major, needs)) break
  }
  const [best] = found.filter(({ major }) => canServe(major, needs)).sort((a, b) => a.major - b.major)
  if (best) return best
  const versions = [...new Set(found.map(({ major }) => major))].join(', ')
  const where = folder ?? 'PATH'
  throw new BackupProblem(
    'UNAVAILABLE',
    `${name} of Postgres ${server} is needed, as the server has it, and ${where} has ${versions === '' ? 'none' : versions}: install postgresql-client-${server} (Debian, Ubuntu), postgresql${server} (Red Hat) or postgresql@${server} (Homebrew), or name the folder of its programs with --tools.`,
  )
}

const ofPackages = (major: number): readonly string[] => [
  `/usr/lib/postgresql/${major}/bin`,
  `/usr/pgsql-${major}/bin`,
  `/opt/homebrew/opt/postgresql@${major}/bin`,
]

/** Null: it is not there, or does not run. */
async function majorOf(program: string): Promise<number | null> {
  try {
    const { stdout } = await run(program, ['--version'], { timeout: VERSION_MS, env: { LC_ALL: 'C', ...pathOnly() } })
    return Number(/\b(\d+)[.\w]/.exec(stdout)?.[1]) || null
  } catch {
    return null
  }
}
/** Debian's are scripts, which need an interpreter. */
const pathOnly = () => ({ PATH: process.env.PATH })

/** Bounds the kept error output of a program. */
const MAX_SAID = 16 * 1024

interface RunOptions {
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** An abort ends it; what it has begun in the database is rolled back. */
  readonly signal: AbortSignal
  readonly input?: Readable
  readonly output?: (chunks: Readable) => Promise<void>
}

/** @throws BackupProblem with the first error that it prints */
export async function runTool(tool: Tool, { args, env, signal, input, output }: RunOptions): Promise<void> {
  signal.throwIfAborted()
  const child = spawn(tool.path, args, { env, cwd: '/', stdio: ['pipe', 'pipe', 'pipe'] })
  const stop = () => void child.kill('SIGTERM')
  signal.addEventListener('abort', stop)
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    if (said.length < MAX_SAID) said += text
  })
  const closed = once(child, 'close') as Promise<[number | null]>
  try {
    const [read, written, ended] = await Promise.allSettled([
      output ? output(child.stdout).catch((error: unknown) => failed(error, stop)) : child.stdout.resume(),
      // A program that fails stops reading: its exit code reports that, not the broken pipe.
      input ? pipeline(input, child.stdin).catch(ignoreBrokenPipe) : child.stdin.end(),
      closed,
    ])
    signal.throwIfAborted()
    if (read.status === 'rejected') throw read.reason
    if (ended.status === 'rejected') throw ended.reason
    if (ended.value[0] !== 0) throw new BackupProblem('FAILED', `${tool.name} has failed: ${firstError(said)}`)
    if (written.status === 'rejected') throw written.reason
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

function failed(error: unknown, stop: () => void): never {
  stop()
  throw error
}
function ignoreBrokenPipe(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE' && error.code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error
}

const MAX_ERROR = 400
/** The lines after it repeat statements and rows, which may be secret. */
function firstError(said: string): string {
  const lines = said.split('\n').map((line) => line.trim())
  const error = lines.find((line) => /\b(error|fatal|FATAL|ERROR):/.test(line)) ?? lines.find(Boolean)
  return (error ?? 'it says nothing of why').replace(/^\S+: (error|fatal): /, '').slice(0, MAX_ERROR)
}
