import { findExpressions, hasExpressions, parseText, unreadable } from '../../../core/expression.ts'
import { isReservedArgument, RESERVED_ARGUMENT_RULE } from '../../../core/gadget/protocol.ts'
import { LIMITS } from '../../../core/limits.ts'
import { isName, NAME_RULE, type Problems } from '../../../core/problems.ts'
import type { RetryPolicy } from '../../../core/retry.ts'
import { normaliseRetry, type RetryPolicyInput } from '../../retry-policy.ts'
import { startGateOf } from '../../start-gate.ts'
import type { TaskJob } from '../../tasks.ts'
import type { JobSpec } from './spec.ts'

/** Converts API input to stored jobs: fills in defaults and reports problems by their path. */

const GADGET = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/
const VARIABLE = /^GADGET_[A-Z0-9_]{1,120}$/

/** Without any `dependsOn` the jobs are a sequence. */
export function normaliseJobs(input: readonly TaskJob[], path: string, problems: Problems): readonly JobSpec[] {
  if (input.length === 0) problems.add(path, 'must not be empty')
  const isSequence = input.every(({ dependsOn }) => !dependsOn?.length)
  const names = new Set(input.map(({ name }) => name))
  const seen = new Set<string>()
  return input.map((job, i) => {
    const at = `${path}.${i}`
    if (!isName(job.name)) problems.add(`${at}.name`, NAME_RULE)
    if (seen.has(job.name)) problems.add(`${at}.name`, `${job.name} occurs twice`)
    seen.add(job.name)
    if (!GADGET.test(job.gadget))
      problems.add(`${at}.gadget`, 'must be the name of a gadget: letters, digits, . _ or -')
    const previous = input[i - 1]?.name
    const dependsOn = isSequence ? (previous === undefined ? [] : [previous]) : [...new Set(job.dependsOn ?? [])]
    for (const [n, name] of dependsOn.entries())
      if (!names.has(name)) problems.add(`${at}.dependsOn.${n}`, `there is no job ${name}`)
    const retry = job.retry && retryOf(job.retry, `${at}.retry`, problems)
    const gate = (job.gate ?? null) === null ? null : startGateOf(job.gate, `${at}.gate`, problems)
    return {
      ...{ name: job.name, gadget: job.gadget, dependsOn, ...textsOf(job, at, problems) },
      ...(retry && { retry }),
      ...(gate && { gate }),
    }
  })
}

/** A gadget that is stopped in the middle would have to be undone by a runner that may be what hangs. */
function retryOf(input: RetryPolicyInput, at: string, problems: Problems): RetryPolicy {
  if (typeof input.attemptTimeoutMs === 'number')
    problems.add(`${at}.attemptTimeoutMs`, 'must be left out: a gadget bounds its own time')
  return normaliseRetry(input, at, problems)
}

function textsOf(job: TaskJob, at: string, problems: Problems): Pick<JobSpec, 'args' | 'env' | 'when'> {
  const { args = null, env = null, when = null } = job
  for (const [n, arg] of (args ?? []).entries()) {
    if (isReservedArgument(arg)) problems.add(`${at}.args.${n}`, RESERVED_ARGUMENT_RULE)
  }
  for (const [n, { name }] of (env ?? []).entries()) {
    if (!VARIABLE.test(name)) problems.add(`${at}.env.${n}.name`, 'must be named GADGET_…, in capitals')
  }
  // A task of a subscription gets variables of its event besides its own.
  if ((env?.length ?? 0) > LIMITS.gadgetEnv.max)
    problems.add(`${at}.env`, `must not be more than ${LIMITS.gadgetEnv.max}`)
  if (when !== null && !isWhole(when)) problems.add(`${at}.when`, 'must be one expression that is true or false: ${…}')
  return { args: args ?? [], env: Object.fromEntries((env ?? []).map(({ name, value }) => [name, value])), when }
}

const isWhole = (text: string): boolean => {
  const parsed = parseText(text)
  return parsed.ok && parsed.parts.length === 1 && typeof parsed.parts[0] === 'object'
}

const templateOf = ({ args, env, when }: JobSpec) => ({ args, env, when })

/** All distinct expressions of the jobs. */
export const expressionsOf = (jobs: readonly JobSpec[]): readonly string[] => [
  ...new Set(
    jobs
      .map(templateOf)
      .filter(hasExpressions)
      .flatMap((template) =>
        findExpressions(template).flatMap(({ source, problem }) => (problem === undefined ? [source] : [])),
      ),
  ),
]

export type References = ReadonlyMap<
  string,
  | { readonly ok: true; readonly references: readonly (readonly string[])[] }
  | { readonly ok: false; readonly message: string }
>

/** A job may refer to jobs that end before it: its direct and indirect dependencies. */
export function checkOrder(jobs: readonly JobSpec[], path: string, references: References, problems: Problems): void {
  const before = predecessors(jobs)
  for (const [i, job] of jobs.entries()) {
    const earlier = before.get(job.name)
    if (!earlier || earlier.has(job.name)) {
      problems.add(`${path}.${i}.dependsOn`, `${job.name} depends on itself`)
      continue
    }
    const template = templateOf(job)
    if (!hasExpressions(template)) continue
    for (const expression of findExpressions(template)) {
      const { source, problem } = expression
      const at = [`${path}.${i}`, expression.path].filter(Boolean).join('.')
      const found = problem === undefined ? references.get(source) : undefined
      if (!found?.ok) problems.add(at, problem ?? unreadable(expression, found?.message ?? 'it could not be read'))
      else
        for (const [, name = ''] of found.references)
          if (!earlier.has(name)) problems.add(at, `${name} is no job that comes before ${job.name}`)
    }
  }
}

/** All direct and indirect dependencies of each job; a job among its own is in a cycle. */
export function predecessors(jobs: readonly JobSpec[]): ReadonlyMap<string, ReadonlySet<string>> {
  const direct = new Map(jobs.map(({ name, dependsOn }) => [name, dependsOn]))
  return new Map(
    jobs.map(({ name, dependsOn }) => {
      const found = new Set<string>()
      const open = [...dependsOn]
      for (let next = open.pop(); next !== undefined; next = open.pop()) {
        if (found.has(next)) continue
        found.add(next)
        open.push(...(direct.get(next) ?? []))
      }
      return [name, found]
    }),
  )
}
