import { Worker } from 'node:worker_threads'
import { LIMITS } from './limits.ts'
import { type Chunk, CLOCK, type JobResult, NO_JOB, type Progress } from './protocol.ts'

export type Reason = 'TIME' | 'MEMORY' | 'CRASH'
/** How a chunk ended: with all jobs done, or at the job that cost the worker its life (null: at none in particular). */
export type ChunkEnd =
  | { readonly type: 'done' }
  | { readonly type: 'killed'; readonly by: number | null; readonly reason: Reason }

export type OnResult = (index: number, result: JobResult) => void

/** How often the clock of a running job is read, in milliseconds: what a job may take beyond its limit. */
const WATCH_MS = 20
const STARTUP_MS = 30_000

interface Listener {
  readonly message: (message: unknown) => void
  readonly gone: (reason: Reason, error: Error) => void
}

/** One worker thread: runs chunks, one at a time, until one of them kills it. */
export class Thread {
  readonly #worker: Worker
  readonly #clock: BigInt64Array
  #listener: Listener | null = null
  #alive = true

  private constructor() {
    const shared = new SharedArrayBuffer(CLOCK.bytes)
    const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
    this.#clock = new BigInt64Array(shared).fill(NO_JOB)
    this.#worker = new Worker(new URL(`./worker.${extension}`, import.meta.url), {
      workerData: shared,
      resourceLimits: { maxOldGenerationSizeMb: LIMITS.heapMb },
      // Nothing of this process: no secrets in the environment, no loaders or flags of whoever started it.
      env: {},
      execArgv: [],
    })
    this.#worker.on('message', (message) => this.#listener?.message(message))
    this.#worker.on('error', (error) => this.#gone(isOutOfMemory(error) ? 'MEMORY' : 'CRASH', asError(error)))
    this.#worker.on('exit', () => this.#gone('CRASH', new Error('The worker of the sandbox ended.')))
  }

  /** Rejects when the worker cannot be started. */
  static async start(): Promise<Thread> {
    const thread = new Thread()
    const started = Promise.withResolvers<void>()
    thread.#listener = { message: () => started.resolve(), gone: (_, error) => started.reject(error) }
    const timer = setTimeout(() => started.reject(new Error('The worker of the sandbox did not start.')), STARTUP_MS)
    try {
      await started.promise
      return thread
    } catch (error) {
      await thread.kill()
      throw error
    } finally {
      clearTimeout(timer)
      thread.#rest()
    }
  }

  get alive(): boolean {
    return this.#alive
  }

  /** Calls back with each result as it comes. After `killed` the thread is of no use any more, but must be awaited by `kill`. */
  async run(chunk: Chunk, onResult: OnResult): Promise<ChunkEnd> {
    const ended = Promise.withResolvers<ChunkEnd>()
    const stopped = (reason: Reason) => ended.resolve({ type: 'killed', by: jobInHand(this.#clock), reason })
    this.#listener = {
      message: (message) => {
        const { first, results } = message as Progress
        for (const [i, result] of results.entries()) onResult(first + i, result)
        if (first + results.length === chunk.jobs.length) ended.resolve({ type: 'done' })
      },
      gone: stopped,
    }
    const watch = setInterval(() => isOverdrawn(this.#clock) && stopped('TIME'), WATCH_MS)
    this.#worker.ref()
    this.#worker.postMessage(chunk)
    try {
      return await ended.promise
    } finally {
      clearInterval(watch)
      this.#rest()
    }
  }

  async kill(): Promise<void> {
    this.#alive = false
    await this.#worker.terminate()
  }

  /** An idle thread does not keep the process alive. */
  #rest(): void {
    this.#listener = null
    this.#worker.unref()
  }

  #gone(reason: Reason, error: Error): void {
    this.#alive = false
    this.#listener?.gone(reason, error)
  }
}

function jobInHand(clock: BigInt64Array): number | null {
  const job = Atomics.load(clock, CLOCK.job)
  return job === NO_JOB ? null : Number(job)
}

function isOverdrawn(clock: BigInt64Array): boolean {
  // In this order: a newer job's beginning with an older job's index is harmless, the reverse would blame the innocent.
  if (jobInHand(clock) === null) return false
  const since = Atomics.load(clock, CLOCK.since)
  return process.hrtime.bigint() - since > BigInt(LIMITS.jobMs) * 1_000_000n
}

function isOutOfMemory(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY'
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error('The worker of the sandbox failed.', { cause: error })
}
