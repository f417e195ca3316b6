import { isAlive, type ProcessId } from '../../../../process/identity.ts'
import { exitOf } from '../runtime/exit-of.ts'
import { Mask } from '../runtime/mask.ts'
import { Output, type OutputLimits } from '../runtime/output.ts'
import type { Watcher, WorkloadEnd } from '../runtime/runtime.ts'
import { endByForce, endGroup, type Target } from './end-processes.ts'
import { openPipes } from './pipes.ts'
import type { WorkloadFolder } from './workload-folder.ts'

export interface WatchOptions {
  readonly folder: WorkloadFolder
  readonly limits: OutputLimits
  /** Called when the workload runs; an adopted one was started by an earlier process. */
  onAlive(): void
  targetOf(shim: ProcessId): Target
  /** The runtime is stopping the workload. */
  isStopping(): boolean
}

const GONE: WorkloadEnd = { how: 'GONE', reason: 'DELETED', message: 'Its process was ended from outside.' }

/** Passes on the lines of a workload until its end, which it records. Null: the signal aborted. */
export async function watchWorkload(options: WatchOptions, watcher: Watcher): Promise<WorkloadEnd | null> {
  const { folder, targetOf, isStopping } = options
  if (watcher.signal.aborted) return null
  const recorded = await folder.readEnd()
  if (recorded) return recorded.end
  const shim = await folder.readProcess()
  if (!shim) return GONE
  let exitCode: number | null = null
  if (await isAlive(shim)) {
    const exited = await readToEnd(options, shim, watcher)
    if (exited === ABORTED) return null
    exitCode = exited
  } else {
    await endByForce(targetOf(shim))
  }
  const code = (await folder.readExitCode()) ?? exitCode
  const end: WorkloadEnd = isStopping() ? { how: 'STOPPED' } : endOf(code)
  if (end.how === 'GONE') watcher.onLine('SYSTEM', end.message)
  await folder.writeEnd({ at: Date.now(), end })
  return end
}

/** Returns the exit code; null when the shim was killed. */
async function readToEnd(
  { folder, limits, onAlive, targetOf }: WatchOptions,
  shim: ProcessId,
  { onRunning, onLine, signal }: Watcher,
): Promise<number | null | typeof ABORTED> {
  const mask = new Mask(await folder.readMasked())
  const output = new Output({ limits, mask, onLine, now: () => performance.now() })
  onAlive()
  onRunning()
  const pipes = await openPipes({
    path: (name) => folder.file(name),
    onOutput: (stream, chunk) => output.write(stream, chunk),
  })
  try {
    // The shim may have written the exit code before the pipes were opened.
    const exited = (await folder.readExitCode()) ?? (await orAborted(pipes.exited, signal))
    if (exited === ABORTED) return ABORTED
    await endGroup(shim)
    await pipes.drain()
    await endByForce(targetOf(shim))
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
