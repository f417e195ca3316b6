import { pause } from '../../client/pause.ts'
import { isAlive, type ProcessId } from '../../process/identity.ts'
import { type Members, statOf } from './members.ts'
import { codeOf } from './shim.ts'

export interface Target {
  readonly id: string
  /** Leads the group; null when nothing was ever started. */
  readonly shim: ProcessId | null
  readonly members: Members
}

const LOOK_MS = 20
/** Whoever is killed and has not ended by then cannot be ended, e.g. since it waits for a dead disk. */
const FORCE_MS = 10_000

/** SIGTERM to all of a workload; returns when it has ended, all are gone, or after `graceMs`. */
export async function askToEnd(target: Target, graceMs: number, hasEnded: () => Promise<boolean>): Promise<void> {
  const until = performance.now() + graceMs
  let left = await signalAll(target, 'SIGTERM')
  while (left > 0 && performance.now() < until && !(await hasEnded())) {
    await pause(LOOK_MS)
    left = await signalAll(target, null)
  }
}

/** SIGKILL to the group of a workload, if there is one. */
export async function endGroup(shim: ProcessId): Promise<void> {
  if (await isAlive(shim)) send(-shim.pid, 'SIGKILL')
}

/** SIGKILL to all of a workload, until nothing of it is left. */
export async function endByForce(target: Target): Promise<void> {
  const until = performance.now() + FORCE_MS
  while ((await signalAll(target, 'SIGKILL')) > 0) {
    if (performance.now() > until) throw new Error(`Processes of ${target.id} do not end.`)
    await pause(LOOK_MS / 2)
  }
}

/**
 * Signals the group, then what has left it. How many there were. As long as the shim is there the group is ours; any
 * other process is judged once more, by its start time, just before it gets the signal.
 */
async function signalAll({ id, shim, members }: Target, signal: NodeJS.Signals | null): Promise<number> {
  const leads = shim !== null && (await isAlive(shim))
  if (leads && signal) send(-shim.pid, signal)
  const found = await members.of(id)
  for (const { pid, group, ticks } of found) {
    const covered = leads && group === shim.pid
    if (!covered && signal && statOf(pid)?.ticks === ticks) send(pid, signal)
  }
  return Math.max(found.length, leads ? 1 : 0)
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    // It has ended meanwhile; some systems say EPERM when all of a group has ended but is not reaped.
    if (!['ESRCH', 'EPERM'].includes(codeOf(error))) throw error
  }
}
