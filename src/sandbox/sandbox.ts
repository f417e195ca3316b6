import type { FieldProblem } from '../core/errors.ts'
import { OneAtATime } from '../core/one-at-a-time.ts'
import { ATTRIBUTE, SPAN } from '../tracing/names.ts'
import { traced } from '../tracing/spans.ts'
import { Batch, type PreparedJob } from './batch.ts'
import { type JsonText, jsonText } from './json-text.ts'
import { LIMITS } from './limits.ts'
import { Pool, type PoolOptions } from './pool.ts'
import type { JobFailure, JobResult } from './protocol.ts'
import type { ExpressionsOf } from './references.ts'
import { machineBusy, ownerBusy } from './sandbox-busy.ts'
import { Suspects } from './suspects.ts'

export interface ResolveJob {
  readonly template: unknown
  readonly scope: Readonly<Record<string, unknown>>
}
/** A part of a spec. A `manifest` is an entry of `manifests`: a YAML text or an object. */
export type InspectJob =
  | { readonly type: 'schema' | 'manifest'; readonly value: unknown }
  /** A built-in deployer takes the config. */
  | { readonly type: 'config'; readonly itemType: string; readonly value: unknown }
export interface ValidateJob {
  readonly schema: unknown
  readonly value: unknown
}

type Failed = JobFailure
/** Member-access paths from the roots, e.g. `['deployItems', 'db', 'exports', 'url']`, up to the first computed key. */
export type Analysis = { readonly ok: true; readonly references: readonly (readonly string[])[] } | Failed
export type Resolution = { readonly ok: true; readonly value: unknown } | Failed
export type Validation = { readonly ok: true } | Failed
/** Paths begin within the value, with a dot. */
export type Inspection = { readonly ok: true; readonly problems: readonly FieldProblem[] } | Failed

/**
 * Evaluates users' expressions and schemas, and judges their configs, in child processes, with limits of time and memory per job: a hostile job fails
 * alone. Results are in the order of the jobs. Messages name the error and its position in the expression, template or
 * schema, never a value. The promises reject only when no worker can be started or the sandbox is closed, and with SandboxBusy.
 *
 * `owner`: whose jobs they are. For a minute after one of them had to be stopped, or was slow, those of the owner run beside the others',
 * one call at a time, and pause for two seconds after each that is stopped.
 */
export interface Sandbox extends AsyncDisposable {
  /**
   * Parses only. Refuses an unknown root, and one whose members imply a dependency without a constant name; the roots
   * depend on the context of the expressions. Rejects with SandboxBusy if the machine was too busy to tell.
   */
  analyze(sources: readonly string[], of?: ExpressionsOf): Promise<readonly Analysis[]>
  /** Whole templates. Jobs with the very same scope object share one copy of it. */
  resolve(jobs: readonly ResolveJob[], owner?: string): Promise<readonly Resolution[]>
  /** JSON Schema draft 2020-12 without remote references. */
  validate(jobs: readonly ValidateJob[], owner?: string): Promise<readonly Validation[]>
  /** JSON Schemas themselves, configs and manifests: what is wrong with them. One call of an owner at a time; a few wait. Rejects as `analyze` does. */
  inspect(jobs: readonly InspectJob[], owner?: string): Promise<readonly Inspection[]>
}

export interface SandboxOptions {
  readonly logger?: { warn(fields: object, message: string): void }
  /** Number of worker processes; 1 by default. */
  readonly workers?: number
}

export function createSandbox({ logger, workers = 1 }: SandboxOptions = {}): Sandbox {
  const pools = new Pools(workers, logger)
  const inspections = new OneByOne()
  return {
    async analyze(sources, of = 'installation') {
      const jobs = sources.map((source): PreparedJob => ({ type: 'analyze', source, of }))
      const results = await inSpan('analyze', jobs, () => pools.run(jobs.map(refuseLong), []))
      requireJudged(results)
      return results.map((r) => (r.ok ? { ok: true, references: JSON.parse(r.json) } : r))
    },
    async resolve(jobs, owner) {
      const scopes = new SharedTexts(scopeText)
      const prepared = jobs.map((job) => prepareResolve(job, scopes))
      const results = await inSpan('resolve', jobs, () => pools.run(prepared, scopes.texts, owner))
      return results.map((r) => (r.ok ? { ok: true, value: JSON.parse(r.json) } : r))
    },
    async validate(jobs, owner) {
      const schemas = new SharedTexts((schema) => jsonText(A_SCHEMA, schema, size(LIMITS.schema)))
      const prepared = jobs.map((job) => prepareValidate(job, schemas))
      const results = await inSpan('validate', jobs, () => pools.run(prepared, schemas.texts, owner))
      return results.map((r) => (r.ok ? { ok: true } : r))
    },
    async inspect(jobs, owner) {
      const prepared = jobs.map(prepareInspect)
      const results = await inSpan('inspect', jobs, () => inspections.run(owner, () => pools.run(prepared, [], owner)))
      requireJudged(results)
      return results.map((r) => (r.ok ? { ok: true, problems: JSON.parse(r.json) } : r))
    },
    [Symbol.asyncDispose]: () => pools.close(),
  }
}

/** @throws SandboxBusy if the machine may be the reason of a failure: who wrote it would take it for a mistake of theirs */
export function requireJudged(results: readonly Validation[]): void {
  if (results.some((result) => !result.ok && result.isTransient)) throw machineBusy()
}

const inSpan = <T>(job: string, jobs: readonly unknown[], run: () => Promise<T>): Promise<T> =>
  traced(SPAN.sandbox, () => ({ [ATTRIBUTE.job]: job, [ATTRIBUTE.jobs]: jobs.length }), run)

const size = (characters: number) => ({ depth: LIMITS.depth, size: characters })

/** A scope is many times as large as a template, so that its escapes count as well. */
function scopeText(scope: unknown): JsonText {
  const what = 'what the expressions refer to'
  const written = jsonText(what, scope, size(LIMITS.scope))
  return written.ok && written.text.length > LIMITS.scope
    ? { ok: false, message: `${what} is larger than ${LIMITS.scope} characters` }
    : written
}

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

const A_SCHEMA = 'a JSON Schema'

function prepareInspect(job: InspectJob): PreparedJob {
  const text =
    job.type === 'schema'
      ? jsonText(A_SCHEMA, job.value, size(LIMITS.schema))
      : jsonText('it', job.value, size(LIMITS.value))
  if (!text.ok) return { type: 'refused', message: text.message }
  return job.type === 'config' ? { ...job, text: text.text } : { type: job.type, text: text.text }
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

/** Calls of one owner that wait; a further one is refused. */
const MAX_WAITING = 32

/** Calls of one owner run one after the other: what it writes at the same time is not refused for being slow. */
class OneByOne {
  readonly #queues = new Map<string, OneAtATime>()

  async run<T>(owner: string | undefined, call: () => Promise<T>): Promise<T> {
    if (owner === undefined) return await call()
    const queue = this.#queues.get(owner) ?? new OneAtATime()
    if (queue.size >= MAX_WAITING) throw ownerBusy(queue.size)
    this.#queues.set(owner, queue)
    try {
      return await queue.run(call)
    } finally {
      if (queue.size === 0) this.#queues.delete(owner)
    }
  }
}

/** Jobs of owners that had to be stopped, or are slow, share a worker of their own, so that those of others need not wait for it. */
class Pools {
  readonly #suspects = new Suspects()
  readonly #slow: Pool
  readonly #quick: Pool

  constructor(workers: number, logger: SandboxOptions['logger']) {
    const onKilled: PoolOptions['onKilled'] = ({ owner }, { reason }) => {
      this.#suspects.stopped(owner)
      logger?.warn({ reason }, 'A sandbox worker was stopped; the next job gets a new one.')
    }
    const onSlow: PoolOptions['onSlow'] = ({ owner }) => this.#suspects.slow(owner)
    this.#slow = new Pool({ workers: 1, onKilled, onSlow, restOf: ({ owner }) => this.#suspects.restOf(owner) })
    const poolFor = ({ owner }: Batch) => (this.#suspects.has(owner) ? this.#slow : null)
    this.#quick = new Pool({ workers, onKilled, onSlow, poolFor })
  }

  run(jobs: readonly PreparedJob[], shared: readonly string[], owner?: string): Promise<readonly JobResult[]> {
    const batch = new Batch(jobs, shared, owner)
    this.#quick.enqueue(batch)
    return batch.results
  }

  async close(): Promise<void> {
    await Promise.all([this.#quick.close(), this.#slow.close()])
  }
}
