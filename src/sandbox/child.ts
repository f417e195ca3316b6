import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { LIMITS } from './limits.ts'
import { type Chunk, CLOCK_FD, type JobResult, type Progress } from './protocol.ts'

/** `TIME`: the job has used up its processor time; `STALLED`: it took long, perhaps because the machine was busy. */
export type Reason = 'TIME' | 'STALLED' | 'MEMORY' | 'CRASH'
/**
 * The end of a chunk: all jobs are done, or so many when its time was over, or the worker was killed during one (null: during no
 * particular one).
 */
export type ChunkEnd =
  | { readonly type: 'done' }
  | { readonly type: 'cut'; readonly done: number }
  | { readonly type: 'killed'; readonly by: number | null; readonly reason: Reason }

export type OnResult = (index: number, result: JobResult) => void

/** Interval of clock checks in milliseconds: a job may exceed its limit by as much. */
const WATCH_MS = 20
const STARTUP_MS = 30_000
/** The unit of /proc on every Linux that Node supports. */
const TICK_MS = 10

interface Listener {
  readonly message: (message: unknown) => void
  readonly gone: (reason: Reason) => void
}

/**
 * One worker process: runs chunks, one at a time, until one of them kills it. Not a thread: V8 aborts the whole process
 * when a thread's heap cannot hold one large allocation, and a thread inside of a native function cannot be stopped.
 */
export class Child {
  readonly #process: ChildProcess
  readonly #closed = Promise.withResolvers<void>()
  #listener: Listener | null = null
  #alive = true
  /**
   * Number of jobs begun in this process, of those in earlier chunks, and the time of the last begin (performance.now). It
   * is never reset, since clock and results use different pipes: the last ticks of a chunk may arrive after its results.
   */
  #begun = 0
  #before = 0
  #since = 0

  private constructor() {
    const file = new URL(`./worker.${import.meta.url.endsWith('.ts') ? 'ts' : 'js'}`, import.meta.url)
    this.#process = spawn(process.execPath, [`--max-old-space-size=${LIMITS.heapMb}`, fileURLToPath(file)], {
      stdio: ['ignore', 'ignore', 'ignore', 'ipc', 'pipe'],
      serialization: 'advanced',
      // Nothing of this process's environment: no secrets, and no NODE_OPTIONS.
      env: {},
    })
    this.#process.on('message', (message) => this.#listener?.message(message))
    this.#process.on('error', () => this.#gone('CRASH'))
    // Not 'exit': at 'close' all its output has been read, so that the clock names the job.
    this.#process.on('close', (code, signal) => this.#gone(isOutOfMemory(code, signal) ? 'MEMORY' : 'CRASH'))
    this.#clock.on('data', (bytes: Buffer) => {
      this.#begun += bytes.length
      this.#since = performance.now()
    })
  }

  get #clock(): Readable {
    return this.#process.stdio[CLOCK_FD] as Readable
  }

  /** Rejects when the worker cannot be started. */
  static async start(): Promise<Child> {
    const child = new Child()
    const started = Promise.withResolvers<void>()
    const failed = (message: string) => started.reject(new Error(message))
    child.#listener = {
      message: () => started.resolve(),
      gone: () => failed('The worker of the sandbox ended at its start.'),
    }
    const timer = setTimeout(() => failed('The worker of the sandbox did not start.'), STARTUP_MS)
    try {
      await started.promise
      return child
    } catch (error) {
      await child.kill()
      throw error
    } finally {
      clearTimeout(timer)
      child.#rest()
    }
  }

  get #activeJob(): number | null {
    return this.#begun > this.#before ? this.#begun - this.#before - 1 : null
  }

  get alive(): boolean {
    return this.#alive
  }

  /** Calls back with each result as it arrives. After `killed` only `kill` may be called. */
  async run(chunk: Chunk, onResult: OnResult): Promise<ChunkEnd> {
    const ended = Promise.withResolvers<ChunkEnd>()
    const stopped = (reason: Reason) => ended.resolve({ type: 'killed', by: this.#activeJob, reason })
    let done = 0
    this.#listener = {
      message: (message) => {
        const { first, results, isCut } = message as Progress
        for (const [i, result] of results.entries()) onResult(first + i, result)
        done = first + results.length
        if (done === chunk.jobs.length) ended.resolve({ type: 'done' })
        else if (isCut) ended.resolve({ type: 'cut', done })
      },
      gone: stopped,
    }
    const watch = this.#watch(stopped)
    this.#arm(true)
    this.#process.send(chunk, () => {})
    try {
      return await ended.promise
    } finally {
      this.#before += done
      clearInterval(watch)
      this.#rest()
    }
  }

  async kill(): Promise<void> {
    this.#alive = false
    this.#arm(true)
    this.#process.kill('SIGKILL')
    await this.#closed.promise
  }

  /**
   * A job that exceeds its limit in wall time may have waited for a busy machine. From then on its processor time counts,
   * and the job is killed when that exceeds the limit, or its wall time the limit for stalled jobs.
   */
  #watch(overdrawn: (reason: Reason) => void): NodeJS.Timeout {
    let suspect: { readonly job: number; readonly used: number | null } | null = null
    let last = performance.now()
    const look = () => {
      const now = performance.now()
      // The job waited for a processor about as long as this process did: that time does not count.
      const late = now - last - WATCH_MS
      if (late > WATCH_MS) this.#since = Math.min(now, this.#since + late)
      last = now
      const overdue = this.#activeJob !== null && now - this.#since > LIMITS.jobMs
      if (!overdue) return
      if (suspect?.job !== this.#begun) suspect = { job: this.#begun, used: this.#processorMs() }
      const used = this.#processorMs()
      if (used !== null && suspect.used !== null && used - suspect.used >= LIMITS.jobMs) overdrawn('TIME')
      else if (used === null || now - this.#since > LIMITS.stalledMs) overdrawn('STALLED')
    }
    // Decided after pending input was read: the job may have ended already.
    return setInterval(() => setImmediate(look), WATCH_MS)
  }

  /** User and system time of the worker so far; null where the system does not provide it. */
  #processorMs(): number | null {
    try {
      const stat = readFileSync(`/proc/${this.#process.pid}/stat`, 'utf8')
      // The name in parentheses may hold anything: fields are counted from after it.
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      return (Number(fields[11]) + Number(fields[12])) * TICK_MS
    } catch {
      return null
    }
  }

  #rest(): void {
    this.#listener = null
    this.#arm(false)
  }

  /** An idle worker does not keep this process alive; it ends itself when this process does. */
  #arm(busy: boolean): void {
    const handles = [this.#process, this.#process.channel, this.#clock as Readable & NodeJS.RefCounted]
    for (const handle of handles) busy ? handle?.ref() : handle?.unref()
  }

  #gone(reason: Reason): void {
    this.#alive = false
    this.#closed.resolve()
    this.#listener?.gone(reason)
  }
}

/** V8 ends a process whose heap is full by abort(), which Windows shows as an exit code. */
function isOutOfMemory(code: number | null, signal: string | null): boolean {
  return signal === 'SIGABRT' || signal === 'SIGTRAP' || code === 134
}
