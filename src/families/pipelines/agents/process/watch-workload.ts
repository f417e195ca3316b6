import { exitOf } from '../../../../agents/exit-of.ts'
import { Mask } from '../../../../agents/mask.ts'
import { Output, type OutputLimits } from '../runtime/output.ts'
import type { Watcher, WorkloadEnd } from '../runtime/runtime.ts'
import { endByForce, type Target } from './end-processes.ts'
import { openPipes } from './pipes.ts'
import type { Supervisor } from './supervisor-client.ts'
import type { WorkloadFolder } from './workload-folder.ts'

export interface WatchOptions {
  readonly id: string
  readonly folder: WorkloadFolder
  readonly supervisor: Supervisor
  readonly limits: OutputLimits
  /** Called when the workload runs; an adopted one was started by an earlier process. */
  onAlive(): Promise<void>
  /** All its processes. */
  target(): Promise<Target>
  /** The runtime is stopping the workload. */
  isStopping(): boolean
}

const GONE: WorkloadEnd = { how: 'GONE', reason: 'DELETED', message: 'Its process was ended from outside.' }

/** Passes on the lines of a workload until its end, which it records. Null: the signal aborted. */
export async function watchWorkload(options: WatchOptions, watcher: Watcher): Promise<WorkloadEnd | null> {
  const { id, folder, supervisor, target, isStopping } = options
  if (watcher.signal.aborted) return null
  const recorded = await folder.readEnd()
  if (recorded) return recorded.end
  if (!(await folder.hasStarted())) return GONE
  const exited = supervisor.holds(id) ? await readToEnd(options, watcher) : null
  if (exited === ABORTED) return null
  const code = exited ?? (await folder.readExitCode())
  // Ends processes that remain, in whatever group.
  await endByForce(await target())
  const end: WorkloadEnd = isStopping() ? { how: 'STOPPED' } : endOf(code)
  if (end.how === 'GONE') watcher.onLine('SYSTEM', end.message)
  await folder.writeEnd({ at: Date.now(), end })
  return end
}

/** Returns the exit code; null when the supervisor is gone. */
async function readToEnd(
  { id, folder, supervisor, limits, onAlive }: WatchOptions,
  { onRunning, onLine, signal }: Watcher,
): Promise<number | null | typeof ABORTED> {
  const mask = new Mask(await folder.readMasked())
  const output = new Output({ limits, mask, onLine, now: () => performance.now() })
  await onAlive()
  onRunning()
  const pipes = await openPipes({
    path: (name) => folder.file(name),
    onOutput: (stream, chunk) => output.write(stream, chunk),
  })
  try {
    // It may have ended while no runtime was there to get the message.
    const exited = (await folder.readExitCode()) ?? (await orAborted(supervisor.exited(id), signal))
    if (exited === ABORTED) return ABORTED
    supervisor.release(id)
    await pipes.drain()
    return exited
  } finally {
    pipes.close()
    output.end()
  }
}

const endOf = (code: number | null): WorkloadEnd => (code === null ? GONE : { how: 'EXITED', ...exitOf(code) })

const ABORTED = Symbol('aborted')
async function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T | typeof ABORTED> {
  const aborted = Promise.withResolvers<typeof ABORTED>()
  const abort = (): void => aborted.resolve(ABORTED)
  signal.addEventListener('abort', abort, { once: true })
  try {
    return signal.aborted ? ABORTED : await Promise.race([promise, aborted.promise])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}
