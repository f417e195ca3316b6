import { writeSync } from 'node:fs'
import { setImmediate as immediate } from 'node:timers/promises'
import { Script } from 'node:vm'
import type { FieldProblem } from '../core/errors.ts'
import { readObjects } from '../manifest/kubernetes-objects.ts'
import { checkSchema } from './check-schema.ts'
import { compile } from './compile.ts'
import { DEPLOYER_CONFIGS } from './deployer-configs.ts'
import { Refused } from './environment.ts'
import { type Chunk, CLOCK_FD, type Job, type JobResult, type Progress } from './protocol.ts'
import { referenceProblem } from './references.ts'
import { resolveTemplate, type Scope, scopeOf } from './resolve-template.ts'
import { validateValue } from './validate-value.ts'
import { Budget } from './values.ts'

/** The worker process: runs one chunk after the other, and signals when a job begins. */

/** Sent results survive a job that kills this process: they are sent often enough to redo little. */
const SLICE_MS = 10
/** After so long the worker turns to other batches, whose jobs may be quick. */
const TURN_MS = 50
const ORPHAN_MS = 2_000
const TICK = Buffer.of(1)
const guard = new Script('sandboxRun()')

/** Parsed texts that several jobs of a chunk share, created within the time of the first job. */
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
    if (!this.#schemas.has(index)) {
      const schema = this.#parse(index)
      const check = checkSchema(schema)
      if (!check.ok) throw new Refused(check.message)
      this.#schemas.set(index, schema)
    }
    return this.#schemas.get(index)
  }
  #parse(index: number): unknown {
    return JSON.parse(this.#texts[index] ?? 'null')
  }
}

function evaluate(job: Job, shared: Shared): string {
  switch (job.type) {
    case 'analyze': {
      const { references } = compile(job.source)
      const problem = referenceProblem(references, job.of)
      if (problem) throw new Refused(problem)
      return JSON.stringify(references)
    }
    case 'resolve': {
      const value = resolveTemplate(JSON.parse(job.template), shared.scope(job.scope))
      // Before it is written, since it may have parts that are shared.
      new Budget().spendOn(value)
      return JSON.stringify(value)
    }
    case 'validate':
      validateValue(shared.schema(job.schema) as boolean | object, JSON.parse(job.value))
      return 'true'
    case 'schema': {
      const check = checkSchema(JSON.parse(job.text))
      return problemsText(check.ok ? [] : [{ path: '', message: check.message }])
    }
    case 'config':
      return problemsText(DEPLOYER_CONFIGS.get(job.itemType)?.problemsOf(JSON.parse(job.text), '') ?? [])
    case 'manifest':
      return problemsText(readObjects(JSON.parse(job.text), '').problems)
  }
}

/** A person reads no more of them. */
const MAX_PROBLEMS = 100
const problemsText = (problems: readonly FieldProblem[]): string => JSON.stringify(problems.slice(0, MAX_PROBLEMS))

function attempt(job: Job, shared: Shared): JobResult {
  try {
    return { ok: true, json: evaluate(job, shared) }
  } catch (error) {
    if (error instanceof Refused) return { ok: false, message: error.message }
    // Its message may quote a value.
    if (error instanceof RangeError) return { ok: false, message: 'it is nested too deep or grew too large' }
    return { ok: false, message: 'it cannot be evaluated' }
  }
}

/** The running chunk; it is run in slices, and each slice is reported. */
interface Work {
  readonly chunk: Chunk
  readonly shared: Shared
  readonly endsAt: number
  next: number
}

function slice(work: Work): Progress {
  const { jobs } = work.chunk
  const first = work.next
  const results: JobResult[] = []
  const end = performance.now() + SLICE_MS
  for (; work.next < jobs.length && (results.length === 0 || performance.now() < end); work.next++) {
    writeSync(CLOCK_FD, TICK)
    results.push(attempt(jobs[work.next] as Job, work.shared))
  }
  return { first, results, isCut: work.next < jobs.length && performance.now() >= work.endsAt }
}

async function perform(chunk: Chunk): Promise<void> {
  const work: Work = { chunk, shared: new Shared(chunk.shared), endsAt: performance.now() + TURN_MS, next: 0 }
  while (work.next < chunk.jobs.length) {
    const progress = bounded(() => slice(work))
    process.send?.(progress)
    if (progress.isCut) return
    // Lets the report leave before a job that may never end.
    await immediate()
  }
}

/** The parent kills jobs that take too long; without a parent this timer ends a job that would run for hours. */
function bounded<T>(run: () => T): T {
  Reflect.set(globalThis, 'sandboxRun', run)
  return guard.runInThisContext({ timeout: ORPHAN_MS }) as T
}

// The first evaluation is slower than later ones: warms up before any job is timed.
const warmed = new Shared(['{"imports":{"a":{"b":1}}}', '{"type":"object","properties":{"a":{"type":"integer"}}}'])
const template = JSON.stringify(`\${[1, 2].map(i, i + imports.a.b)} \${"a".matches("b")}`)
attempt({ type: 'resolve', template, scope: 0 }, warmed)
attempt({ type: 'validate', schema: 1, value: '{"a":1}' }, warmed)
for (const itemType of DEPLOYER_CONFIGS.keys()) attempt({ type: 'config', itemType, text: '{}' }, warmed)
attempt({ type: 'manifest', text: JSON.stringify('kind: A\nmetadata: {name: a}') }, warmed)

process.on('message', (message) => void perform(message as Chunk))
process.on('disconnect', () => process.exit())
// Ctrl-C in a terminal reaches the whole process group, but the parent decides when this process ends.
process.on('SIGINT', () => {})
process.send?.('ready')
