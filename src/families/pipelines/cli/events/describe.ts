import { describeAttempts } from '../../../../cli/objects/describe-attempts.ts'
import { describeObject } from '../../../../cli/objects/describe-object.ts'
import { describeFields, type Field } from '../../../../cli/objects/fields.ts'
import { markedPhase, markOf } from '../../../../cli/objects/phases.ts'
import { describeCommand, describeServices } from '../../../../cli/projects/describe.ts'
import type { Paint } from '../../../../cli/terminal/paint.ts'
import { table } from '../../../../cli/terminal/table.ts'
import { duration, shorten, words } from '../../../../cli/terminal/text.ts'
import { describeBlocker, finalText } from '../../../../client-model/index.ts'
import { took } from './list.ts'
import type { EventWithJobs, FullEvent, FullWorkload, Job, Workload } from './read.ts'

/** Columns that why a job is not done gets in the table; `--json` has it whole. */
const WHY_SHOWN = 60

/** As people read it: the event, its worker, and a table of its jobs. */
export function describeEvent(event: EventWithJobs, now: number, paint: Paint): string[] {
  const { worker, jobs } = event
  return [
    ...describeObject(event, now, paint, eventFields(event)),
    ...(worker ? ['', paint('bold', 'worker'), ...describeWorker(worker, now, paint)] : []),
    ...(jobs.length > 0 ? ['', paint('bold', 'jobs'), ...describeJobs(jobs, now)] : []),
  ]
}

function eventFields({ source, type, qualifiers, payload, subscribed, retryOf, cloneOf }: FullEvent): readonly Field[] {
  return [
    ['source', source],
    ['type', type],
    ['qualifiers', qualifiers.map(({ key, value }) => `${key}=${value}`).join(', ')],
    ['payload', payload === null ? null : `${Buffer.byteLength(payload)} bytes`],
    ['came', subscribed ? 'through a subscription' : 'for its project by name'],
    ['retries', retryOf?.name],
    ['clone of', cloneOf?.name],
  ]
}

/** Its error, clocks and what it waits for are the event's too, and told there. */
function describeWorker(worker: Workload, now: number, paint: Paint): string[] {
  const phase = paint(markOf(worker.phaseClass).style, markedPhase(worker))
  return describeFields([['phase', phase], ...workloadFields(worker, now), ['id', worker.id]], paint)
}

/** As people read it: one worker or job. */
export const describeWorkload = (workload: FullWorkload, now: number, paint: Paint): string[] =>
  describeObject(workload, now, paint, [
    ...workloadFields(workload, now),
    ['done by', 'inheritedFrom' in workload ? workload.inheritedFrom?.root.name : null],
    ...describeAttempts(workload, now),
  ])

type Run = Omit<Workload, 'blockedBy' | 'error'>

function workloadFields(workload: Run, now: number): readonly Field[] {
  const { agent, workloadSpec: spec, attempt, commit } = workload
  return [
    ['runs', spec && describeCommand(spec)],
    ['services', spec && describeServices(spec.services)],
    ['clone', spec?.clone && describeClone(spec.clone, commit)],
    ['runtime', spec?.runtime],
    ['at', agent && `${agent.name} ${agent.instance}`],
    ['attempt', attempt > 1 ? String(attempt) : null],
    ['took', took(workload)],
    ['ended with', describeExit(workload)],
    ['resources', describeResources(workload, now)],
  ]
}

/** e.g. `https://git.example.com/app.git at main, commit 3f2c…`. */
const describeClone = ({ url, ref }: { url: string; ref: string | null }, commit: string | null): string =>
  [ref === null ? url : `${url} at ${ref}`, ...(commit === null ? [] : [`commit ${commit}`])].join(', ')

/** `exit code 3`, or the signal; empty while it runs, and when its runtime lost the exit code. */
function describeExit({ exitCode, signal }: Pick<Workload, 'exitCode' | 'signal'>): string {
  if (signal !== null) return signal
  return exitCode === null ? '' : `exit code ${exitCode}`
}

/** e.g. `process, secrets, removed in 42.0s`; what is removed already is left out. */
function describeResources({ resources }: Pick<Workload, 'resources'>, now: number): string {
  const left = resources.filter(({ removedAt }) => removedAt === null)
  if (left.length === 0) return resources.length > 0 ? 'removed' : ''
  const times = left.flatMap(({ removeAt }) => (removeAt === null ? [] : [Date.parse(removeAt)]))
  const kinds = left.map(({ kind }) => words(kind)).join(', ')
  if (times.length === 0) return kinds
  const wait = Math.max(...times) - now
  return `${kinds}, ${wait > 0 ? `to be removed in ${duration(wait)}` : 'being removed'}`
}

function describeJobs(jobs: readonly Job[], now: number): string[] {
  const rows = jobs.map((job) => [
    job.name,
    markedPhase(job),
    took(job),
    job.signal ?? (job.exitCode === null ? '' : String(job.exitCode)),
    describeResources(job, now),
    shorten(why(job, now), WHY_SHOWN),
  ])
  return table(['NAME', 'PHASE', 'TOOK', 'EXIT', 'RESOURCES', 'WHY'], rows)
}

/** Why it is in its phase, and not further. */
function why({ error, blockedBy, inheritedFrom, attempts, maxAttempts }: Job, now: number): string {
  const failed = attempts.findLast((one) => one.error)
  const attempt = `attempt ${attempts.length} of ${maxAttempts}`
  if (failed && failed.number < attempts.length)
    return `${attempt}, after ${failed.error?.code}: ${failed.error?.message}`
  const final = failed && finalText(failed)
  if (error) return `${final ? `${attempt}, ${final}: ` : ''}${error.code}: ${error.message}`
  const [blocker] = blockedBy
  if (blocker) return describeBlocker(blocker, now)
  return inheritedFrom ? `done by ${inheritedFrom.root.name}` : ''
}
