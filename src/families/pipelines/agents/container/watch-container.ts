import type { ContainerInspectInfo } from 'dockerode'
import { pause } from '../../../../client/pause.ts'
import { exitOf } from '../runtime/exit-of.ts'
import { Mask } from '../runtime/mask.ts'
import { Output, type OutputLimits } from '../runtime/output.ts'
import type { Watcher, WorkloadEnd } from '../runtime/runtime.ts'
import { demultiplex } from './demultiplex.ts'
import type { Endings } from './endings.ts'
import type { Engine } from './engine.ts'
import type { Records } from './records.ts'

export interface WatchOptions {
  readonly id: string
  readonly engine: Engine
  readonly endings: Endings
  readonly records: Records
  readonly limits: OutputLimits
  /** Secrets that its output must not show. */
  readonly masked: readonly string[]
  /** Called when the container runs; an adopted one was started by an earlier process. */
  onAlive(): void
}

const GONE: WorkloadEnd = { how: 'GONE', reason: 'DELETED', message: 'Its container was removed from outside.' }
/** How long the rest of the output is waited for once the container has ended. */
const REST_MS = 5_000
/** What is read is noted so often: a runtime that is killed repeats no more than that. */
const NOTE_MS = 500
/** The engine has closed the output of a container that runs on, as it does when it is started again. */
const AGAIN_MS = 200

/** Passes on the lines of a container until its end. Null: the signal aborted. */
export async function watchContainer(options: WatchOptions, watcher: Watcher): Promise<WorkloadEnd | null> {
  const { id, engine, records, limits, masked, onAlive } = options
  const { onLine, signal } = watcher
  const output = new Output({ limits, mask: new Mask(masked), onLine, now: () => performance.now() })
  try {
    for (let isKnown = false; !signal.aborted; isKnown = true) {
      const found = await engine.inspect(id)
      const isRunning = found?.State.Running === true
      if (isRunning && !isKnown) {
        onAlive()
        watcher.onRunning()
      }
      if (found) await readOutput(options, output, { follow: isRunning, signal })
      if (signal.aborted) return null
      const now = isRunning ? await engine.inspect(id) : found
      if (!now?.State.Running) {
        if (now && isRunning) await readOutput(options, output, { follow: false, signal })
        return endOf(now, records.get(id)?.isStopped === true)
      }
      await pause(AGAIN_MS, signal)
    }
    return null
  } finally {
    output.end()
  }
}

function endOf(found: ContainerInspectInfo | null, isStopped: boolean): WorkloadEnd {
  if (isStopped) return { how: 'STOPPED' }
  if (!found) return GONE
  const { ExitCode, OOMKilled } = found.State
  return { how: 'EXITED', ...exitOf(ExitCode), ...(OOMKilled ? { outOfMemory: true } : {}) }
}

/** Reads what nobody has read yet, until the engine closes the output, the container has ended, or the signal aborts. */
async function readOutput(
  { id, engine, endings, records }: WatchOptions,
  output: Output,
  { follow, signal }: { readonly follow: boolean; readonly signal: AbortSignal },
): Promise<void> {
  const ended = new AbortController()
  const either = AbortSignal.any([signal, ended.signal])
  let timer: NodeJS.Timeout | undefined
  using _ending = endings.next(id, () => {
    timer ??= setTimeout(() => ended.abort(), REST_MS)
  })
  const read = { ...(records.get(id)?.read ?? { STDOUT: 0, STDERR: 0 }) }
  const skip = { ...read }
  const note = (): Promise<void> => records.update(id, { read: { ...read } })
  const noting = setInterval(() => void note().catch(() => {}), NOTE_MS)
  const take = demultiplex((stream, chunk) => {
    const skipped = Math.min(skip[stream], chunk.length)
    skip[stream] -= skipped
    if (skipped === chunk.length) return
    read[stream] += chunk.length - skipped
    output.write(stream, chunk.subarray(skipped))
  })
  try {
    const isChecked = follow && (await engine.isPodman())
    for await (const chunk of await engine.output(id, follow, either)) {
      // Only what arrives while the container runs is without gaps. The rest is read once more without following.
      if (isChecked && !(await engine.isRunning(id))) break
      take(chunk as Buffer)
    }
  } catch (error) {
    if (!either.aborted) throw error
  } finally {
    clearTimeout(timer)
    clearInterval(noting)
    await note()
  }
}
