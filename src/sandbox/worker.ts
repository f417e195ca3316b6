import { parentPort, workerData } from 'node:worker_threads'
import { compile } from './compile.ts'
import { Refused } from './environment.ts'
import { LIMITS } from './limits.ts'
import { type Chunk, CLOCK, type Job, type JobResult, NO_JOB, type Progress } from './protocol.ts'
import { referenceProblem } from './references.ts'
import { resolveTemplate, type Scope, scopeOf } from './resolve-template.ts'
import { validateValue } from './validate-value.ts'

/** The inside of the fence: does one chunk after the other, and keeps the clock by which the parent judges it. */

const port = parentPort
const clock = new BigInt64Array(workerData as SharedArrayBuffer)
/** Results that were sent survive the job that kills the worker. Often enough to redo little, seldom enough to be cheap. */
const REPORT_NS = 10_000_000n

/** What several jobs of a chunk share, made on first use, within the first job's time. */
class Shared {
  readonly #texts: readonly string[]
  readonly #scopes = new Map<number, Scope>()
  readonly #schemas = new Map<number, unknown>()
  constructor(texts: readonly string[]) {
    this.#texts = texts
  }
  scope(index: number): Scope {
    const known = this.#scopes.get(index) ?? scopeOf(this.#parse(index) as Record<string, unknown>)
    this.#scopes.set(index, known)
    return known
  }
  schema(index: number): unknown {
    const known = this.#schemas.get(index) ?? this.#parse(index)
    this.#schemas.set(index, known)
    return known
  }
  #parse(index: number): unknown {
    return JSON.parse(this.#texts[index] ?? 'null')
  }
}

function perform(job: Job, shared: Shared): string {
  switch (job.type) {
    case 'analyze': {
      const { references } = compile(job.source)
      const problem = referenceProblem(references)
      if (problem) throw new Refused(problem)
      return JSON.stringify(references)
    }
    case 'resolve': {
      const json = JSON.stringify(resolveTemplate(JSON.parse(job.template), shared.scope(job.scope)))
      if (json.length > LIMITS.output) throw new Refused(`the result is larger than ${LIMITS.output} characters`)
      return json
    }
    case 'validate':
      validateValue(shared.schema(job.schema) as boolean | object, JSON.parse(job.value))
      return 'true'
  }
}

function attempt(job: Job, shared: Shared): JobResult {
  try {
    return { ok: true, json: perform(job, shared) }
  } catch (error) {
    if (error instanceof Refused) return { ok: false, message: error.message }
    // Its message may quote a value.
    if (error instanceof RangeError) return { ok: false, message: 'it is nested too deep or grew too large' }
    return { ok: false, message: 'it cannot be evaluated' }
  }
}

function work({ jobs, shared: texts }: Chunk): void {
  const shared = new Shared(texts)
  let results: JobResult[] = []
  let first = 0
  let reported = process.hrtime.bigint()
  for (const [index, job] of jobs.entries()) {
    const now = process.hrtime.bigint()
    if (now - reported > REPORT_NS && results.length > 0) {
      port?.postMessage({ first, results } satisfies Progress)
      first = index
      results = []
      reported = now
    }
    // In this order: the parent reads the job first, and so never sees a job with an older job's beginning.
    Atomics.store(clock, CLOCK.since, now)
    Atomics.store(clock, CLOCK.job, BigInt(index))
    results.push(attempt(job, shared))
  }
  Atomics.store(clock, CLOCK.job, NO_JOB)
  port?.postMessage({ first, results } satisfies Progress)
}

// The first evaluation costs what later ones do not: pay before anything is timed.
const warmed = new Shared(['{"imports":{"a":{"b":1}}}', '{"type":"object","properties":{"a":{"type":"integer"}}}'])
const template = JSON.stringify(`\${[1, 2].map(i, i + imports.a.b)} \${"a".matches("b")}`)
attempt({ type: 'resolve', template, scope: 0 }, warmed)
attempt({ type: 'validate', schema: 1, value: '{"a":1}' }, warmed)

port?.on('message', work)
port?.postMessage('ready')
