import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { chmod, chown, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { leaveOut } from '../testkit/leave-out.ts'

/** Servers that these tests start, and their packages in Debian. */
const PROGRAMS = {
  patroni: 'patroni',
  etcd: 'etcd-server',
  pgbouncer: 'pgbouncer',
  'redis-server': 'redis-server',
  '/usr/lib/postgresql/15/bin/postgres': 'postgresql-15',
} as const

/** The packages whose programs are not there. */
export const missingPackages = (): readonly string[] =>
  Object.entries(PROGRAMS)
    .filter(([program]) => spawnSync(program, ['--version']).status !== 0)
    .map(([, name]) => name)

/** True if all programs are installed. If not, it prints a line, or throws where they are required. */
export function areProgramsThere(): boolean {
  const missing = missingPackages()
  if (missing.length === 0) return true
  leaveOut('high-availability', `${missing.join(', ')} is not installed: npm run test:deep -- ha installs it.`)
  return false
}

/** Postgres, Patroni and PgBouncer refuse to run as root. */
export const OWNER = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}

/** A folder that they may write to; disposing removes it. */
export async function ownedFolder(): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await mkdtemp(join(tmpdir(), 'phaseline-ha-'))
  if (OWNER.uid !== undefined) await chown(path, OWNER.uid, OWNER.gid)
  await chmod(path, 0o700)
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) }
}

/** Ends with the pipe to this process, so that a run that is killed leaves none behind. */
const GUARDED = '(cat <&3 >/dev/null; kill $$) & exec "$0" "$@" 3<&-'

export interface Program extends AsyncDisposable {
  readonly child: ChildProcess
  /** Its last output. */
  output(): string
}

/** A server in the foreground, as an unprivileged user. Disposing ends it. */
export function startProgram(program: string, args: readonly string[], cwd: string): Program {
  const child = spawn('sh', ['-c', GUARDED, program, ...args], {
    ...OWNER,
    cwd,
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH, LC_ALL: 'C', HOME: cwd },
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output = (output + text).slice(-20_000)
    })
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  child.once('exit', () => child.stdio[3]?.destroy())
  return {
    child,
    output: () => output,
    async [Symbol.asyncDispose]() {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM')
      const late = setTimeout(() => child.kill('SIGKILL'), 10_000)
      await ended
      clearTimeout(late)
    },
  }
}
