import type { ContainerInspectInfo } from 'dockerode'
import { pause } from '../../client/pause.ts'
import { demultiplex, type OnOutput } from './demultiplex.ts'
import type { Endings } from './endings.ts'
import { type Engine, statusOf } from './engine.ts'

/** Bytes of both outputs. */
export interface ReadBytes {
  readonly STDOUT: number
  readonly STDERR: number
}

export interface Following {
  readonly engine: Engine
  readonly endings: Endings
  /** Name or id. */
  readonly container: string
  /** The container's id in `endings`. */
  readonly id: string
  /** The output that was passed on already. */
  read(): ReadBytes
  onOutput: OnOutput
  /** Called from time to time, and at the end, with what is passed on by then. */
  onRead?: ((read: ReadBytes) => Promise<void>) | undefined
  /** Called when the container runs. */
  onRunning?: (() => void) | undefined
  readonly signal: AbortSignal
}

/** Maximum wait for the rest of the output once the container has ended. */
const REST_MS = 5_000
/** Interval of recording the read position: a killed agent repeats no more than that. */
const NOTE_MS = 500
/** The engine has closed the output of a container that runs on, as it does when it is started again. */
const AGAIN_MS = 200

/**
 * Passes on the output of a container until it has ended. Returns how it is then; `GONE`: it is not there; null: the signal has
 * aborted.
 */
export async function followContainer(following: Following): Promise<ContainerInspectInfo | 'GONE' | null> {
  const { engine, container, signal, onRunning } = following
  let read = following.read()
  const passOn = async (follow: boolean): Promise<void> => {
    read = await readOutput(following, read, follow)
  }
  for (let isKnown = false; !signal.aborted; isKnown = true) {
    const found = await engine.inspect(container)
    const isRunning = found?.State.Running === true
    if (isRunning && !isKnown) onRunning?.()
    if (found) await passOn(isRunning)
    if (signal.aborted) return null
    const now = isRunning ? await engine.inspect(container) : found
    if (!now?.State.Running) {
      if (now && isRunning) await passOn(false)
      return now ?? 'GONE'
    }
    await pause(AGAIN_MS, signal)
  }
  return null
}

/**
 * Passes on what nobody has read yet, until the engine closes the output, the container has ended, or the signal aborts.
 * Returns what is passed on by then.
 */
async function readOutput(
  { engine, endings, container, id, onOutput, onRead, signal }: Following,
  before: ReadBytes,
  follow: boolean,
): Promise<ReadBytes> {
  const ended = new AbortController()
  const either = AbortSignal.any([signal, ended.signal])
  let timer: NodeJS.Timeout | undefined
  using _ending = endings.next(id, () => {
    timer ??= setTimeout(() => ended.abort(), REST_MS)
  })
  const read = { ...before }
  const skip = { ...before }
  const note = async (): Promise<void> => await onRead?.({ ...read })
  const noting = setInterval(() => void note().catch(() => {}), NOTE_MS)
  const take = demultiplex((stream, chunk) => {
    const skipped = Math.min(skip[stream], chunk.length)
    skip[stream] -= skipped
    if (skipped === chunk.length) return
    read[stream] += chunk.length - skipped
    onOutput(stream, chunk.subarray(skipped))
  })
  try {
    const isChecked = follow && (await engine.isPodman())
    for await (const chunk of await engine.output(container, follow, either)) {
      // Only what arrives while the container runs is without gaps. The rest is read once more without following.
      if (isChecked && !(await engine.isRunning(container))) break
      take(chunk as Buffer)
    }
  } catch (error) {
    // A container that is gone has no more output, which the next check finds.
    if (!either.aborted && statusOf(error) !== 404) throw error
  } finally {
    clearTimeout(timer)
    clearInterval(noting)
    await note()
  }
  return read
}
