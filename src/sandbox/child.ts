import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { LIMITS } from './limits.ts'
import { type Chunk, CLOCK_FD, type JobResult, type Progress } from './protocol.ts'

/** `TIME`: it had the processor for that long; `STALLED`: it took long, and may only have waited for one. */
export type Reason = 'TIME' | 'STALLED' | 'MEMORY' | 'CRASH'
/** How a chunk ended: with all jobs done, or at the job that cost the worker its life (null: at none in particular). */
export type ChunkEnd =
  | { readonly type: 'done' }
  | { readonly type: 'killed'; readonly by: number | null; readonly reason: Reason }

export type OnResult = (index: number, result: JobResult) => void

/** How often the clock of a running job is read, in milliseconds: what a job may take beyond its limit. */
const WATCH_MS = 20
const STARTUP_MS = 30_000
/** In which /proc counts, on every Linux that Node runs on. */
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
   * Jobs that have begun ever, of which so many in earlier chunks, and when the last did (performance.now). Ever, because
   * the clock and the results come through different pipes: the last ticks of a chunk may come after its results.
   */
  #begun = 0
  #before = 0
  #since = 0

  private constructor() {
    const file = new URL(`./worker.${import.meta.url.endsWith('.ts') ? 'ts' : 'js'}`, import.meta.url)
    this.#process = spawn(process.execPath, [`--max-old-space-size=${LIMITS.heapMb}`, fileURLToPath(file)], {
      stdio: ['ignore', 'ignore', 'ignore', 'ipc', 'pipe'],
      serialization: 'advanced',
      // Nothing of this process: no secrets, and no NODE_OPTIONS of whoever started it.
      env: {},
    })
    this.#process.on('message', (message) => this.#listener?.message(message))
    this.#process.on('error', () => this.#gone('CRASH'))
    // Not 'exit': at 'close' everything that it wrote has been read, so the clock says which job it was.
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

  /** Calls back with each result as it comes. After `killed` it is of no use any more, except to `kill`. */
  async run(chunk: Chunk, onResult: OnResult): Promise<ChunkEnd> {
    const ended = Promise.withResolvers<ChunkEnd>()
    const stopped = (reason: Reason) => ended.resolve({ type: 'killed', by: this.#activeJob, reason })
    this.#listener = {
      message: (message) => {
        const { first, results } = message as Progress
        for (const [i, result] of results.entries()) onResult(first + i, result)
        if (first + results.length === chunk.jobs.length) ended.resolve({ type: 'done' })
      },
      gone: stopped,
    }
    const watch = this.#watch(stopped)
    this.#hold(true)
    this.#process.send(chunk, () => {})
    try {
      return await ended.promise
    } finally {
      this.#before += chunk.jobs.length
      clearInterval(watch)
      this.#rest()
    }
  }

  async kill(): Promise<void> {
    this.#alive = false
    this.#hold(true)
    this.#process.kill('SIGKILL')
    await this.#closed.promise
  }

  /**
   * A job that is overdue by the clock on the wall may have waited for a busy machine. From then on its processor time
   * is counted, and only when that is spent too, or its patience, is it stopped.
   */
  #watch(overdrawn: (reason: Reason) => void): NodeJS.Timeout {
    let suspect: { readonly job: number; readonly used: number | null } | null = null
    let last = performance.now()
    const look = () => {
      const now = performance.now()
      // What this process had to wait for a processor, the job had to wait too, more or less: that is not its fault.
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
    // Judged after what has arrived was read: it may be that the job has long ended.
    return setInterval(() => setImmediate(look), WATCH_MS)
  }

  /** User and system time of the worker so far; null where the system does not tell. */
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
    this.#hold(false)
  }

  /** An idle worker does not keep this process alive; it ends itself when this process does. */
  #hold(busy: boolean): void {
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
