import { pause } from '../../../../client/pause.ts'
import { codeOf } from '../../../../process/error-code.ts'
import { isAlive, type ProcessId, statOf } from '../../../../process/identity.ts'
import type { WorkloadProcesses } from './workload-processes.ts'

/** The processes of one workload. */
export interface Target {
  readonly id: string
  /** Leads the process group; null when it is unknown. */
  readonly leader: ProcessId | null
  readonly processes: WorkloadProcesses
}

const POLL_MS = 20
/** A killed process that has not ended by then cannot be ended, e.g. because it waits for a dead disk. */
const FORCE_MS = 10_000

export interface AskOptions {
  /** It runs in a sandbox. */
  readonly isolated: boolean
  readonly graceMs: number
  hasEnded(): boolean
}

/** Sends SIGTERM to all processes; resolves when the workload has ended, all are gone, or after `graceMs`. */
export async function askToEnd(target: Target, { isolated, graceMs, hasEnded }: AskOptions): Promise<void> {
  const until = performance.now() + graceMs
  let { living, reached } = await signalAll(target, 'SIGTERM', isolated)
  while (living > 0 && performance.now() < until && !hasEnded()) {
    await pause(POLL_MS)
    // A sandbox that was still being made had no process to ask.
    const next = await signalAll(target, reached === 0 ? 'SIGTERM' : null, isolated)
    living = next.living
    reached += next.reached
  }
}

/** Sends SIGKILL to all processes until none is left. */
export async function endByForce(target: Target): Promise<void> {
  const until = performance.now() + FORCE_MS
  while ((await signalAll(target, 'SIGKILL')).living > 0) {
    if (performance.now() > until) throw new Error(`Processes of the workload ${target.id} do not end after SIGKILL.`)
    await pause(POLL_MS / 2)
  }
}

/**
 * Signals the group, then processes that have left it, and returns their number. While the leader lives the group is
 * ours; any other process is checked again, by its start time, just before it gets the signal.
 *
 * `sparesGroup`: the group is bubblewrap, which would end its whole sandbox at once; processes in the sandbox have a
 * session of their own.
 */
async function signalAll({ id, leader, processes }: Target, signal: NodeJS.Signals | null, sparesGroup = false) {
  const leads = leader !== null && (await isAlive(leader))
  let reached = 0
  if (leads && signal && !sparesGroup) {
    send(-leader.pid, signal)
    reached += 1
  }
  const found = await processes.of(id)
  for (const { pid, group, ticks } of found) {
    const covered = leads && group === leader.pid
    if (covered || !signal || statOf(pid)?.ticks !== ticks) continue
    send(pid, signal)
    reached += 1
  }
  return { living: Math.max(found.length, leads ? 1 : 0), reached }
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    // It has ended meanwhile; some systems answer EPERM when all of a group has ended but is not reaped.
    if (!['ESRCH', 'EPERM'].includes(codeOf(error))) throw error
  }
}
