import { describeAttempts } from '../../../../cli/objects/describe-attempts.ts'
import { describeObject } from '../../../../cli/objects/describe-object.ts'
import { markedPhase } from '../../../../cli/objects/phases.ts'
import type { Paint } from '../../../../cli/terminal/paint.ts'
import { table } from '../../../../cli/terminal/table.ts'
import { duration, shorten } from '../../../../cli/terminal/text.ts'
import { describeProgress } from '../../../../cli/tree/render.ts'
import { describeBlocker } from '../../../../client-model/index.ts'
import type { FullJob, JobLock, ListedJob, TaskWithJobs } from './read.ts'

/** Columns that what a job is at, and its locks, get in the table; `--json` has them whole. */
const NOW_SHOWN = 60
const LOCKS_SHOWN = 48

/** As people read it: the task, and a table of its jobs. */
export function describeTask(task: TaskWithJobs, now: number, paint: Paint): string[] {
  const undecided = task.jobs.filter(({ phase }) => phase === 'UNDO_FAILED')
  return [
    ...describeObject(task, now, paint),
    ...(task.jobs.length > 0 ? ['', paint('bold', 'jobs'), ...describeJobs(task.jobs, now)] : []),
    ...(undecided.length > 0 ? ['', ...undecided.flatMap((job) => describeDecision(job, task, paint))] : []),
  ]
}

function describeJobs(jobs: readonly ListedJob[], now: number): string[] {
  const rows = jobs.map((job) => [
    job.name,
    job.gadget,
    markedPhase(job),
    took(job, now),
    shorten(job.locks.map(describeLock).join(', '), LOCKS_SHOWN),
    shorten(atWhat(job, now), NOW_SHOWN),
  ])
  return table(['NAME', 'GADGET', 'PHASE', 'TOOK', 'LOCKS', 'NOW'], rows)
}

/** The duration, clean-up included; empty before the start. */
function took({ startedAt, endedAt }: Pick<ListedJob, 'startedAt' | 'endedAt'>, now: number): string {
  if (startedAt === null) return ''
  return duration(Math.max(0, (endedAt === null ? now : Date.parse(endedAt)) - Date.parse(startedAt)))
}

/** e.g. `X host:web-1`, or `S host:web-1 (waits, #2)`. */
const describeLock = ({ resource, mode, held, position }: JobLock): string =>
  `${letterOf(mode)} ${resource}${held ? '' : ` (waits${position === null ? '' : `, #${position}`})`}`

/** As gadgets write it. */
export const letterOf = (mode: JobLock['mode']): string => (mode === 'SHARED' ? 'S' : 'X')

/** Why it failed, else what it waits for, else what it does. */
function atWhat({ error, blockedBy, progress, activity, finished }: ListedJob, now: number): string {
  if (error) return `${error.code}: ${error.message}`
  const [blocker] = blockedBy
  if (blocker) return describeBlocker(blocker, now)
  if (finished) return ''
  return progress ? describeProgress(progress) : (activity ?? '')
}

/** It stays like this until somebody decides, so it says how. */
function describeDecision(job: ListedJob, { project, name }: TaskWithJobs, paint: Paint): string[] {
  const address = `${project.name}/${name}/${job.name}`
  return [paint('red', `${job.name} could not be undone and keeps its locks. Decide:`), ...decideCommands(address)]
}

export const decideCommands = (address: string): readonly string[] => [
  `  phaseline undo resolve ${address} --retry     have it undone again`,
  `  phaseline undo resolve ${address} --give-up   leave it as it is and release its locks`,
]

/** As people read it: one job with its locks, journal and exports. */
export function describeJob(job: FullJob, now: number, paint: Paint): string[] {
  const { gadget, uuid, agent, startedAt, activity, locks, journal, exports, gadgetJobSpec: spec } = job
  const args = job.args ?? spec?.args ?? []
  return [
    ...describeObject(job, now, paint, [
      ['runs', [gadget, ...args.map(quoted)].join(' ')],
      ['when', spec?.when],
      ['uuid', uuid],
      ['at', agent && `${agent.name} ${agent.instance}`],
      ['started', startedAt],
      ['took', took(job, now)],
      ['activity', activity],
      ...locks.map((lock) => ['lock', describeLock(lock)] as const),
      ...Object.entries(exports ?? {}).map(([key, value]) => ['export', `${key} = ${JSON.stringify(value)}`] as const),
      ...describeAttempts(job, now),
    ]),
    ...(journal.length > 0 ? ['', paint('bold', 'journal'), ...journal.map(({ entry, at }) => `${at}  ${entry}`)] : []),
  ]
}

/** Quotes an argument that is empty or has blanks, to separate it from its neighbours. */
const quoted = (argument: string): string => (/^\S+$/.test(argument) ? argument : JSON.stringify(argument))
