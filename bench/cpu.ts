import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import pg from 'pg'

/** Processor time of whole process trees, from /proc. */

const TICK_MS = 1_000 / Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }))

interface Stat {
  readonly parent: number
  /** Time of the process itself. */
  readonly ownMs: number
  /** Time of its ended children and of their ended descendants. */
  readonly endedMs: number
}

/** Null: it has ended. */
function statOf(pid: number): Stat | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name of the program may hold blanks and parentheses.
    const fields = text
      .slice(text.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number)
    const [user = 0, system = 0, endedUser = 0, endedSystem = 0] = fields.slice(11, 15)
    return {
      parent: fields[1] ?? 0,
      ownMs: (user + system) * TICK_MS,
      endedMs: (endedUser + endedSystem) * TICK_MS,
    }
  } catch {
    return null
  }
}

/** Milliseconds of a process alone, user and system. */
export const cpuOf = (pid: number): number => statOf(pid)?.ownMs ?? Number.NaN

/** Bytes of memory that a process has. */
export const memoryOf = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1_024

/** Milliseconds of a process and all that it has started, user and system. */
export function cpuOfTree(root: number): number {
  const all = new Map(
    readdirSync('/proc').flatMap((name) => {
      const pid = Number(name)
      const stat = Number.isInteger(pid) ? statOf(pid) : null
      return stat ? [[pid, stat] as const] : []
    }),
  )
  const sum = (pid: number): number => {
    const stat = all.get(pid)
    if (!stat) return 0
    const children = [...all].flatMap(([child, { parent }]) => (parent === pid ? [child] : []))
    return stat.ownMs + stat.endedMs + children.reduce((total, child) => total + sum(child), 0)
  }
  return sum(root)
}

/** The process that has started the backends of a local Postgres. */
export async function postmasterOf(url: string): Promise<number> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
  const parent = statOf(rows[0]?.pid ?? 0)?.parent
  await client.end()
  if (parent === undefined) throw new Error('Postgres does not run on this machine')
  return parent
}
