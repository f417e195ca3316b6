import { Batch, type PreparedJob } from './batch.ts'
import { checkSchema, type SchemaCheck } from './check-schema.ts'
import type { ChunkEnd } from './child.ts'
import { jsonText } from './json-text.ts'
import { Lane } from './lane.ts'
import { LIMITS } from './limits.ts'
import type { JobResult } from './protocol.ts'
import type { ExpressionsOf } from './references.ts'

export interface ResolveJob {
  readonly template: unknown
  readonly scope: Readonly<Record<string, unknown>>
}
export interface ValidateJob {
  readonly schema: unknown
  readonly value: unknown
}

type Failed = { readonly ok: false; readonly message: string }
/** Member-access paths from the roots, e.g. `['deployItems', 'db', 'exports', 'url']`, up to the first computed key. */
export type Analysis = { readonly ok: true; readonly references: readonly (readonly string[])[] } | Failed
export type Resolution = { readonly ok: true; readonly value: unknown } | Failed
export type Validation = { readonly ok: true } | Failed

/**
 * Evaluates users' expressions and schemas in child processes, with limits of time and memory per job: a hostile job fails
 * alone. Results are in the order of the jobs. Messages name the error and its position in the expression, template or
 * schema, never a value. The promises reject only when no worker can be started or the sandbox is closed.
 */
export interface Sandbox extends AsyncDisposable {
  /**
   * Parses only. Refuses an unknown root, and one whose members imply a dependency without a constant name; the roots
   * depend on the context of the expressions.
   */
  analyze(sources: readonly string[], of?: ExpressionsOf): Promise<readonly Analysis[]>
  /** Whole templates. Jobs with the very same scope object share one copy of it. */
  resolve(jobs: readonly ResolveJob[]): Promise<readonly Resolution[]>
  /** JSON Schema draft 2020-12 without remote references. */
  validate(jobs: readonly ValidateJob[]): Promise<readonly Validation[]>
  /** Checks a schema itself, synchronously and without the worker. */
  checkSchema(schema: unknown): SchemaCheck
}

export interface SandboxOptions {
  readonly logger?: { warn(fields: object, message: string): void }
  /** Number of worker processes; 1 by default. */
  readonly workers?: number
}

export function createSandbox({ logger, workers = 1 }: SandboxOptions = {}): Sandbox {
  const pool = new Pool(workers, logger)
  return {
    async analyze(sources, of = 'installation') {
      const jobs = sources.map((source): PreparedJob => ({ type: 'analyze', source, of }))
      const results = await pool.run(jobs.map(refuseLong), [])
      return results.map((r) => (r.ok ? { ok: true, references: JSON.parse(r.json) } : r))
    },
    async resolve(jobs) {
      const scopes = new SharedTexts((scope) => jsonText('what the expressions refer to', scope, size(LIMITS.scope)))
      const results = await pool.run(
        jobs.map((job) => prepareResolve(job, scopes)),
        scopes.texts,
      )
      return results.map((r) => (r.ok ? { ok: true, value: JSON.parse(r.json) } : r))
    },
    async validate(jobs) {
      const schemas = new SharedTexts((schema) => {
        const check = checkSchema(schema)
        return check.ok ? jsonText('the schema', schema, size(LIMITS.schema)) : check
      })
      const results = await pool.run(
        jobs.map((job) => prepareValidate(job, schemas)),
        schemas.texts,
      )
      return results.map((r) => (r.ok ? { ok: true } : r))
    },
    checkSchema,
    [Symbol.asyncDispose]: () => pool.close(),
  }
}

const size = (characters: number) => ({ depth: LIMITS.depth, size: characters })

function refuseLong(job: PreparedJob): PreparedJob {
  return job.type === 'analyze' && job.source.length > LIMITS.source
    ? { type: 'refused', message: `the expression is longer than ${LIMITS.source} characters` }
    : job
}

function prepareResolve({ template, scope }: ResolveJob, scopes: SharedTexts): PreparedJob {
  const text = jsonText('the template', template, size(LIMITS.output))
  const shared = scopes.indexOf(scope)
  if (!text.ok) return { type: 'refused', message: text.message }
  if (!shared.ok) return { type: 'refused', message: shared.message }
  return { type: 'resolve', template: text.text, scope: shared.index }
}

function prepareValidate({ schema, value }: ValidateJob, schemas: SharedTexts): PreparedJob {
  const text = jsonText('the value', value, size(LIMITS.value))
  const shared = schemas.indexOf(schema)
  if (!text.ok) return { type: 'refused', message: text.message }
  if (!shared.ok) return { type: 'refused', message: shared.message }
  return { type: 'validate', value: text.text, schema: shared.index }
}

type SharedIndex = { readonly ok: true; readonly index: number } | Failed

/** Each distinct object once, by identity. */
class SharedTexts {
  readonly texts: string[] = []
  readonly #known = new Map<unknown, SharedIndex>()
  readonly #write: (value: unknown) => { readonly ok: true; readonly text: string } | Failed
  constructor(write: (value: unknown) => { readonly ok: true; readonly text: string } | Failed) {
    this.#write = write
  }

  indexOf(value: unknown): SharedIndex {
    const known = this.#known.get(value)
    if (known) return known
    const written = this.#write(value)
    const shared: SharedIndex = written.ok ? { ok: true, index: this.texts.push(written.text) - 1 } : written
    this.#known.set(value, shared)
    return shared
  }
}

const WORDS = {
  TIME: `it took more than ${LIMITS.jobMs} ms`,
  STALLED: `it took more than ${LIMITS.jobMs} ms`,
  MEMORY: `it needed more than ${LIMITS.heapMb} MB of memory`,
  CRASH: 'it ended the worker that evaluated it',
} as const

/** Gives the lanes one chunk of each batch in turn, so that a slow or hostile batch does not delay the others. */
class Pool {
  readonly #idle: Lane[]
  readonly #lanes: readonly Lane[]
  readonly #logger: SandboxOptions['logger']
  #queue: Batch[] = []
  #closed = false

  constructor(workers: number, logger: SandboxOptions['logger']) {
    this.#lanes = Array.from({ length: Math.max(1, workers) }, () => new Lane())
    this.#idle = [...this.#lanes]
    this.#logger = logger
  }

  run(jobs: readonly PreparedJob[], shared: readonly string[]): Promise<readonly JobResult[]> {
    const batch = new Batch(jobs, shared)
    if (this.#closed) batch.fail(new Error('The sandbox is closed.'))
    this.#enqueue(batch)
    return batch.results
  }

  async close(): Promise<void> {
    this.#closed = true
    for (const batch of this.#queue.splice(0)) batch.fail(new Error('The sandbox is closed.'))
    await Promise.all(this.#lanes.map((lane) => lane.close()))
  }

  #enqueue(batch: Batch): void {
    if (batch.waiting && !this.#queue.includes(batch)) this.#queue.push(batch)
    const lane = this.#queue.length > 0 ? this.#idle.pop() : undefined
    if (lane) void this.#serve(lane)
  }

  async #serve(lane: Lane): Promise<void> {
    for (let batch = this.#queue.shift(); batch; batch = this.#queue.shift()) {
      const { indices, chunk } = batch.take()
      if (batch.waiting) this.#enqueue(batch)
      try {
        const end = await lane.run(chunk, (i, result) => batch?.settle(indices[i] as number, result))
        if (end.type === 'killed') this.#bury(batch, indices, end)
      } catch (error) {
        batch.fail(error instanceof Error ? error : new Error('The sandbox failed.', { cause: error }))
      }
    }
    this.#idle.push(lane)
  }

  #bury(batch: Batch, indices: readonly number[], end: Extract<ChunkEnd, { type: 'killed' }>): void {
    this.#logger?.warn({ reason: end.reason }, 'A sandbox worker was stopped; the next job gets a new one.')
    const culprit = end.by === null ? undefined : indices[end.by]
    for (const index of indices) {
      if (culprit !== undefined && index !== culprit) batch.retry(index)
      // A worker that ended without a reason may have been killed from outside, not because of its job.
      else if (culprit === undefined || end.reason === 'CRASH') batch.retryOnce(index, WORDS[end.reason])
      else batch.settle(index, { ok: false, message: WORDS[end.reason] })
    }
    if (batch.waiting && !this.#queue.includes(batch)) this.#queue.push(batch)
  }
}
