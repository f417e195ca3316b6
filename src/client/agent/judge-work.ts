import { describeJsonProblem, jsonProblem, UNBOUNDED } from '../../core/json-problem.ts'
import { plainJson } from './plain-json.ts'
import type { InterimReport, LogStream, WorkOutcome } from './work.ts'

/** Judges what the code of an agent hands over: types are gone when it runs, and much of it is not written in TypeScript. */

/** Describes the problem of a value, as the rest of a sentence; null: none. */
type Judge = (value: unknown) => string | null
type Fields = Readonly<Record<string, Judge>>

const STREAMS: ReadonlySet<unknown> = new Set<LogStream>(['STDOUT', 'STDERR', 'STEP', 'SYSTEM'])

const text: Judge = (value) => (typeof value === 'string' ? null : `must be a text, not ${nameOf(value)}`)
const number: Judge = (value) => (Number.isFinite(value) ? null : `must be a finite number, not ${nameOf(value)}`)
/** The server knows the phases and which of them may be reported. */
const phase: Judge = (value) =>
  typeof value === 'string' && /^[A-Z][A-Z0-9_]{0,62}$/.test(value)
    ? null
    : `must be a phase in capitals such as SUCCEEDED, not ${nameOf(value)}`
const mode: Judge = (value) => (value === 'SHARED' || value === 'EXCLUSIVE' ? null : 'must be SHARED or EXCLUSIVE')
const flag: Judge = (value) => (typeof value === 'boolean' ? null : `must be true or false, not ${nameOf(value)}`)

const objectOf =
  (fields: Fields, required: readonly string[] = []): Judge =>
  (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      return `must be an object, not ${nameOf(value)}`
    const given = value as Readonly<Record<string, unknown>>
    const missing = required.find((name) => given[name] === undefined || given[name] === null)
    if (missing !== undefined) return `must have a ${missing}`
    for (const [name, judge] of Object.entries(fields)) {
      const problem = given[name] === undefined || given[name] === null ? null : judge(given[name])
      if (problem) return `has a ${name} that ${problem}`
    }
    return null
  }
const listOf =
  (judge: Judge): Judge =>
  (value) => {
    if (!Array.isArray(value)) return `must be a list, not ${nameOf(value)}`
    return value.map(judge).find((problem) => problem !== null) ?? null
  }

const REPORT: Fields = {
  phase,
  message: text,
  progress: objectOf({ step: text, value: number, total: number, unit: text }),
  error: objectOf({ code: text, message: text, retryable: flag }, ['code', 'message']),
}
const report = objectOf(REPORT)
const OUTCOME: Fields = { ...REPORT, locks: listOf(objectOf({ resource: text, mode }, ['resource', 'mode'])) }
const withPhase = objectOf(OUTCOME, ['phase'])
const withDone = objectOf({ message: text })
const planned = listOf(objectOf({ kind: text, name: text, action: text }, ['kind', 'name', 'action']))
const reason = objectOf({ code: text, message: text }, ['code', 'message'])
const withDryRun = objectOf({ dryRun: objectOf({ changes: planned, skipped: text, error: reason }) })

/** A copy of what the work has returned. @throws TypeError that says what was expected; what a getter throws */
export function outcomeOf(returned: unknown): WorkOutcome {
  if (returned === null) return null
  const isOutcome =
    typeof returned === 'object' &&
    ('phase' in returned || 'dryRun' in returned || ('done' in returned && returned.done === true))
  if (!isOutcome)
    throw new TypeError(`work() returned ${nameOf(returned)}, expected { phase }, { done: true } or null.`)
  const copied = plainJson('work() returned a value that cannot be sent: its', returned) as NonNullable<WorkOutcome>
  const problem = 'phase' in copied ? withPhase(copied) : 'dryRun' in copied ? withDryRun(copied) : withDone(copied)
  if (problem) throw new TypeError(`work() returned an object that ${problem}.`)
  // Exports are judged with the bounds of the server, and have a code of their own.
  requireJson('The outcome', { ...copied, exports: null })
  return copied
}

/** @throws TypeError that says what was expected; what a getter throws */
export function interimReportOf(given: unknown): InterimReport {
  const copied = plainJson('The report', given)
  const problem = report(copied)
  if (problem)
    throw new TypeError(`report() expects { phase, message, progress, error }, each optional: it ${problem}.`)
  requireJson('The report', copied)
  return copied as InterimReport
}

/** Refuses a bigint, for which JSON.stringify throws. The outbox mends texts, and the server judges the rest. */
function requireJson(name: string, value: unknown): void {
  const problem = jsonProblem(value, UNBOUNDED, (leaf) =>
    typeof leaf === 'bigint' ? 'is not JSON but a bigint' : null,
  )
  if (problem) throw new TypeError(`${describeJsonProblem(name, problem)}.`)
}

/** @throws TypeError that says what was expected */
export function requireLogArguments(stream: unknown, line: unknown): void {
  if (STREAMS.has(stream) && typeof line === 'string') return
  throw new TypeError(
    `log() expects a stream and a text, as in log('STDOUT', 'a line'), not ${nameOf(stream)} and ${nameOf(line)}; a stream is one of ${[...STREAMS].join(', ')}.`,
  )
}

/** @throws TypeError that says what was expected */
export function requireProgressArguments(step: unknown, value: unknown, total: unknown): void {
  const problem = text(step) ?? [value, total].map((count) => (count == null ? null : number(count))).find(Boolean)
  if (problem)
    throw new TypeError(
      `progress() expects a step and two optional numbers, as in progress('copies', 1, 10): one ${problem}.`,
    )
}

/** For a message: what the value is, and no more of it than a short text. */
export function nameOf(value: unknown): string {
  if (typeof value === 'string') return value.length > 40 ? 'a long text' : JSON.stringify(value)
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'a list' : 'an object'
  return typeof value === 'function' || typeof value === 'symbol' ? `a ${typeof value}` : String(value)
}
