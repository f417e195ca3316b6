import type { Chunk, Job, JobFailure, JobResult } from './protocol.ts'

/** A job ready to be sent, or its refusal. */
export type PreparedJob = Job | { readonly type: 'refused'; readonly message: string }

/** Limits of one message: large enough to make a thousand small jobs cheap, small enough for the worker's heap. */
const CHUNK = { jobs: 500, size: 4 * 1024 * 1024 } as const

/** The jobs of one call: the queued ones, the results, and a promise of all results in order. */
export class Batch {
  /** The owner of the jobs; by default unique. */
  readonly owner: unknown
  readonly #jobs: readonly PreparedJob[]
  readonly #shared: readonly string[]
  readonly #results: (JobResult | undefined)[]
  readonly #retried = new Set<number>()
  readonly #done = Promise.withResolvers<readonly JobResult[]>()
  #pending: number[] = []
  #hasBegun = false
  #open: number

  constructor(jobs: readonly PreparedJob[], shared: readonly string[], owner: unknown = Symbol('owner')) {
    this.owner = owner
    this.#jobs = jobs
    this.#shared = shared
    this.#results = new Array(jobs.length)
    this.#open = jobs.length
    for (const [index, job] of jobs.entries()) {
      if (job.type === 'refused') this.settle(index, { ok: false, message: job.message })
      else this.#pending.push(index)
    }
    if (jobs.length === 0) this.#done.resolve([])
  }

  get results(): Promise<readonly JobResult[]> {
    return this.#done.promise
  }
  get waiting(): boolean {
    return this.#pending.length > 0
  }

  /** All results are there, though its worker may not have said so yet. */
  get isDone(): boolean {
    return this.#open === 0
  }
  get hasBegun(): boolean {
    return this.#hasBegun
  }

  /** Takes the next jobs: their indices, and the message for the worker. */
  take(): { readonly indices: readonly number[]; readonly chunk: Chunk } {
    this.#hasBegun = true
    const shared = new Map<number, number>()
    const jobs: Job[] = []
    let size = 0
    for (const index of this.#pending) {
      const job = this.#jobs[index]
      if (!job || job.type === 'refused') throw new Error('A refused job must not wait.')
      size += this.#sizeOf(job, shared)
      if (jobs.length > 0 && (size > CHUNK.size || jobs.length >= CHUNK.jobs)) break
      jobs.push(translate(job, shared))
    }
    const indices = this.#pending.slice(0, jobs.length)
    this.#pending = this.#pending.slice(jobs.length)
    return { indices, chunk: { jobs, shared: [...shared.keys()].map((key) => this.#shared[key] ?? 'null') } }
  }

  #sizeOf(job: Job, taken: ReadonlyMap<number, number>): number {
    if (job.type === 'analyze') return job.source.length
    if (!hasShared(job)) return job.text.length
    const [own, key] = job.type === 'resolve' ? [job.template, job.scope] : [job.value, job.schema]
    return own.length + (taken.has(key) ? 0 : (this.#shared[key]?.length ?? 0))
  }

  /** Later results of a job are ignored: it may have been run twice. */
  settle(index: number, result: JobResult): void {
    if (this.#results[index]) return
    this.#results[index] = result
    this.#open--
    if (this.#open === 0) this.#done.resolve(this.#results as readonly JobResult[])
  }

  /** Puts a job back into the queue, since its worker ended because of another one. */
  retry(index: number): void {
    if (!this.#results[index]) this.#pending.push(index)
  }

  /** Repeats a job once when its worker ended for an unknown reason; then it fails. */
  retryOnce(index: number, failure: JobFailure): void {
    if (this.#retried.has(index)) this.settle(index, failure)
    else this.retry(index)
    this.#retried.add(index)
  }

  fail(error: Error): void {
    this.#pending = []
    this.#done.reject(error)
  }
}

const hasShared = (job: Job): job is Extract<Job, { type: 'resolve' | 'validate' }> =>
  job.type === 'resolve' || job.type === 'validate'

/** The job with its index into the batch's shared texts replaced by the index into the chunk's. */
function translate(job: Job, shared: Map<number, number>): Job {
  if (!hasShared(job)) return job
  const key = job.type === 'resolve' ? job.scope : job.schema
  const local = shared.get(key) ?? shared.size
  shared.set(key, local)
  return job.type === 'resolve' ? { ...job, scope: local } : { ...job, schema: local }
}
