import { type ChildProcess, type ForkOptions, fork, type SpawnOptions, spawn } from 'node:child_process'
import { once } from 'node:events'

/** A process of its own, and its end. */
export interface Launched {
  readonly child: ChildProcess
  /** Resolves to its exit code: null when a signal ended it. */
  readonly ended: Promise<number | null>
}

const running = new Set<Launched>()

/**
 * A module in a process that talks over IPC, and that ends when its channel closes, however this process ends. It has a
 * process group of its own, so that Ctrl-C reaches this process first.
 */
export const forkModule = (file: string, options: ForkOptions = {}, args: readonly string[] = []): Launched =>
  track(fork(file, args, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'], ...options, detached: true }))

/** A program, in a process group of its own. */
export const spawnProgram = (command: string, args: readonly string[], options: SpawnOptions): Launched =>
  track(spawn(command, args, { ...options, detached: true }))

function track(child: ChildProcess): Launched {
  const ended = once(child, 'exit')
    .then(([code]) => code as number | null)
    .finally(() => running.delete(launched))
  const launched: Launched = { child, ended }
  running.add(launched)
  return launched
}

/** Ends a process by closing its channel. */
export async function disconnect({ child, ended }: Launched): Promise<void> {
  if (child.connected) child.disconnect()
  await ended
}

/** Ends everything that was launched and still runs, with the processes that it has started. */
export async function stopProcesses(): Promise<void> {
  for (const { child } of running) if (child.pid) terminateGroup(child.pid)
  await Promise.all([...running].map(({ ended }) => ended))
}

function terminateGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGTERM')
  } catch (error) {
    // It has ended, and its end was not heard of yet.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
