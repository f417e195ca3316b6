import { exitOf } from '../../../../agents/exit-of.ts'
import { Mask } from '../../../../agents/mask.ts'
import { ABORTED, orAborted } from '../../../../agents/or-aborted.ts'
import { Output } from '../runtime/output.ts'
import type { OutputLimits, StartProblem, Watcher, WorkloadEnd } from '../runtime/runtime.ts'
import { endByForce, type Target } from './end-processes.ts'
import { openPipes } from './pipes.ts'
import { followServices, launchProblem } from './services.ts'
import type { Supervisor } from './supervisor-client.ts'
import type { WorkloadFolder } from './workload-folder.ts'

export interface WatchOptions {
  readonly id: string
  readonly folder: WorkloadFolder
  readonly supervisor: Supervisor
  readonly limits: OutputLimits | undefined
  /** Called when the workload runs; an adopted one was started by an earlier process. */
  onAlive(): Promise<void>
  /** All its processes. */
  target(): Target
  /** The runtime is stopping the workload. */
  isStopping(): boolean
}

const GONE: WorkloadEnd = { how: 'GONE', reason: 'DELETED', message: 'Its process was ended from outside.' }

/** Passes on the lines of a workload until its end, which it records. Null: the signal aborted. */
export async function watchWorkload(options: WatchOptions, watcher: Watcher): Promise<WorkloadEnd | null> {
  const { id, folder, supervisor, target, isStopping } = options
  if (watcher.signal.aborted) return null
  const recorded = folder.readEnd()
  if (recorded) return recorded.end
  if (!folder.hasStarted()) return GONE
  const exited = supervisor.holds(id) ? await readToEnd(options, watcher) : null
  if (exited === ABORTED) return null
  const code = exited ?? folder.readExitCode()
  // Ends processes that remain, in whatever group.
  await endByForce(target())
  const problem = launchProblem(folder, new Mask(folder.readMasked()))
  const end: WorkloadEnd = isStopping() ? { how: 'STOPPED' } : problem ? notStarted(problem) : endOf(code)
  if (end.how === 'NOT_STARTED') for (const line of problem?.output ?? []) watcher.onLine('SYSTEM', line)
  if (end.how === 'GONE') watcher.onLine('SYSTEM', end.message)
  folder.writeEnd({ at: Date.now(), end })
  return end
}

/** Returns the exit code; null when the supervisor is gone. */
async function readToEnd(
  { id, folder, supervisor, limits, onAlive, isStopping }: WatchOptions,
  { onRunning, onLine, signal }: Watcher,
): Promise<number | null | typeof ABORTED> {
  const mask = new Mask(folder.readMasked())
  const output = new Output({ limits, mask, onLine })
  await onAlive()
  const ended = new AbortController()
  const services = followServices({ folder, mask, onReady: onRunning, isStopping, onLine, ended: ended.signal })
  const pipes = openPipes({
    path: (name) => folder.file(name),
    onOutput: (stream, chunk) => output.write(stream, chunk),
  })
  try {
    // It may have ended while no runtime was there to get the message.
    const exited = folder.readExitCode() ?? (await orAborted(supervisor.exited(id), signal))
    if (exited === ABORTED) return ABORTED
    supervisor.release(id)
    await pipes.drain()
    return exited
  } finally {
    ended.abort()
    await services
    pipes.close()
    output.end()
  }
}

const notStarted = ({ message, code }: StartProblem): WorkloadEnd => ({ how: 'NOT_STARTED', message, code })
const endOf = (code: number | null): WorkloadEnd => (code === null ? GONE : { how: 'EXITED', ...exitOf(code) })
