import { type ChildProcess, spawn } from 'node:child_process'
import { type FailureCause, failureOf } from '../../core/gadget/failure-of.ts'
import { type GadgetLock, GadgetOutput, type OutputEvents } from '../../core/gadget/output.ts'
import { type GadgetMode, MAX_LINE_BYTES, PROTOCOL } from '../../core/gadget/protocol.ts'
import { whyNotStarted } from '../../core/why-not-started.ts'
import { pause } from '../pause.ts'
import { LineSplitter } from './line-splitter.ts'

export interface GadgetRun extends OutputEvents {
  /** Path of an executable; see findGadget. */
  readonly path: string
  /** Passed as they are: there is no shell. Undo and abort get those of the run. */
  readonly args: readonly string[]
  readonly mode: GadgetMode
  /** The option that names the protocol: gadgets know both spellings. */
  readonly protocolOption?: '--protocol' | '--protocols' | undefined
  /** The whole environment of the gadget. */
  readonly env: Readonly<Record<string, string>>
  /** SIGINT, then after `graceMs` SIGKILL, both to the gadget's process group. */
  readonly signal?: AbortSignal | undefined
  /** SIGKILL at once. */
  readonly kill?: AbortSignal | undefined
  /** Milliseconds. */
  readonly graceMs: number
  readonly cwd?: string | undefined
  /** Called when the gadget's process group has started, and when it is gone. */
  onGroup?: ((group: number, state: GroupState) => void) | undefined
  /** Called with each line of its standard error. */
  onLog?: ((text: string) => void) | undefined
}
export type GroupState = 'started' | 'ended'
export type GadgetResult =
  | {
      readonly outcome: 'succeeded'
      readonly exports: Readonly<Record<string, unknown>>
      readonly locks: readonly GadgetLock[]
    }
  | {
      readonly outcome: 'failed'
      /** `start`: it could not be started. */
      readonly cause: 'start' | FailureCause
      readonly message: string
      readonly exitCode: number | null
    }
  /** It ended after a stop signal, whatever its exit code. */
  | { readonly outcome: 'stopped' }

const OPTIONS: Readonly<Record<GadgetMode, readonly string[]>> = {
  run: [],
  undo: ['--undo'],
  abort: ['--abort'],
  getlocks: ['--getlocks'],
}
/** Processes that a gadget leaves behind may hold its pipes open; they are read no longer than this after its end. */
const DRAIN_MS = 500

/** Runs one gadget to its end, in its own process group, and then kills the rest of the group. Never rejects. */
export async function runGadget(run: GadgetRun): Promise<GadgetResult> {
  if (run.signal?.aborted || run.kill?.aborted) return { outcome: 'stopped' }
  const output = new GadgetOutput(run.mode, run)
  let child: ChildProcess
  try {
    child = start(run)
  } catch (error) {
    // Node throws for some codes, and tells of others by an event.
    return notStarted(error)
  }
  if (child.pid !== undefined) run.onGroup?.(child.pid, 'started')
  const stopper = stopOnSignals(child, run)
  const reading = readOutput(child, run, output, stopper.breakOff)
  const ended = await untilEnd(child)
  stopper.release()
  if ('error' in ended) return notStarted(ended.error)
  killGroup(child, 'SIGKILL')
  if (child.pid !== undefined) run.onGroup?.(child.pid, 'ended')
  await reading.drain()
  reading.end()
  return judge(ended, output, stopper.stopped())
}

const start = ({ path, args, mode, protocolOption = '--protocol', env, cwd }: GadgetRun): ChildProcess =>
  spawn(path, [`${protocolOption}=${PROTOCOL}`, ...OPTIONS[mode], ...args], {
    env: { ...env },
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
    // A process group of its own.
    detached: true,
    shell: false,
  })

const notStarted = (error: unknown): GadgetResult => ({
  outcome: 'failed',
  cause: 'start',
  message: `It could not be started: ${whyNotStarted(codeOf(error))}.`,
  exitCode: null,
})

interface Ended {
  readonly exitCode: number | null
  readonly signal: NodeJS.Signals | null
}

function untilEnd(child: ChildProcess): Promise<Ended | { readonly error: Error }> {
  return new Promise((resolve) => {
    child.once('error', (error) => {
      if (child.pid === undefined) resolve({ error })
    })
    child.once('exit', (exitCode, signal) => resolve({ exitCode, signal }))
  })
}

interface Reading {
  /** Resolves once all is read, or what is left comes from processes that the gadget has left behind. */
  drain(): Promise<void>
  /** Stops reading, and flushes a last line without a line end. */
  end(): void
}

function readOutput(child: ChildProcess, { onLog }: GadgetRun, output: GadgetOutput, breakOff: () => void): Reading {
  const lines = new LineSplitter(MAX_LINE_BYTES, (line, tooLong) => {
    if (!output.take(line, tooLong)) breakOff()
  })
  const log = new LineSplitter(MAX_LINE_BYTES, (line) => onLog?.(line))
  let chunks = 0
  const read = (splitter: LineSplitter) => (chunk: Buffer) => {
    chunks += 1
    splitter.write(chunk)
  }
  child.stdout?.on('data', read(lines))
  child.stderr?.on('data', read(log))
  let isClosed = false
  const closed = new Promise<void>((resolve) =>
    child.once('close', () => {
      isClosed = true
      resolve()
    }),
  )
  return {
    async drain() {
      await Promise.race([closed, pause(DRAIN_MS)])
      // Node may report the end of a process before it has read its last output, and an agent that was held up finds the
      // time over at once. So it reads on while each turn of the event loop brings something.
      for (let turn = 0, before = -1; !isClosed && chunks !== before && turn < MAX_TURNS; turn += 1) {
        before = chunks
        await nextTurn()
      }
    },
    end() {
      child.stdout?.destroy()
      child.stderr?.destroy()
      lines.end()
      log.end()
    },
  }
}
/** Bounds the reading: a process that the gadget has left behind may write for ever. A full pipe takes a few turns. */
const MAX_TURNS = 100
const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

function stopOnSignals(child: ChildProcess, { signal, kill, graceMs }: GadgetRun) {
  let grace: NodeJS.Timeout | undefined
  let stopped = false
  const interrupt = (): void => {
    if (grace) return
    killGroup(child, 'SIGINT')
    grace = setTimeout(() => killGroup(child, 'SIGKILL'), graceMs)
  }
  const onSignal = (): void => {
    stopped = true
    interrupt()
  }
  const onKill = (): void => {
    stopped = true
    killGroup(child, 'SIGKILL')
  }
  signal?.addEventListener('abort', onSignal, { once: true })
  kill?.addEventListener('abort', onKill, { once: true })
  return {
    stopped: () => stopped,
    /** Interrupts a gadget that breaks the protocol like one that is aborted; it has failed all the same. */
    breakOff: interrupt,
    release(): void {
      clearTimeout(grace)
      signal?.removeEventListener('abort', onSignal)
      kill?.removeEventListener('abort', onKill)
    },
  }
}

function killGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return
  try {
    process.kill(-child.pid, signal)
  } catch (error) {
    // The group is empty; some systems answer EPERM when all of it has ended but is not reaped.
    if (!['ESRCH', 'EPERM'].includes(codeOf(error))) throw error
  }
}

function judge({ exitCode, signal }: Ended, output: GadgetOutput, stopped: boolean): GadgetResult {
  if (stopped) return { outcome: 'stopped' }
  const failure = failureOf({ exitCode, signal }, output)
  if (failure) return { outcome: 'failed', exitCode, ...failure }
  return { outcome: 'succeeded', exports: { ...output.exports }, locks: output.locks }
}

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : 'unknown error'
