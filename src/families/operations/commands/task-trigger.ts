import { createHash } from 'node:crypto'
import type { TaskJob } from '../../tasks.ts'
import type { Trigger, TriggerCall, TriggerInput } from '../../trigger.ts'
import { rights } from '../rights.ts'
import type { OperationsCommands } from './index.ts'

/** A task with the jobs of the schedule, named after the schedule and its time. */
export const taskTrigger = (operations: OperationsCommands): Trigger => ({
  right: rights.create,
  // Expressions of jobs are those of the task.
  template: () => null,
  check: (input, path, problems) => operations.verbs.createTask.check(jobsOf(input, UNKNOWN), `${path}.jobs`, problems),
  run: (viewer, { project, input, schedule }) =>
    operations.createTask(viewer, { project, name: nameOf(schedule), jobs: jobsOf(input, schedule) }),
  cancel: (viewer, id, reason) => operations.cancelTask(viewer, { id, reason }),
})

type Schedule = TriggerCall['schedule']
const UNKNOWN: Schedule = { name: '', due: '', previous: null, count: 0 }

function jobsOf({ jobs }: TriggerInput, { name, due, previous }: Schedule): readonly TaskJob[] {
  const own = [
    { name: 'GADGET_SCHEDULE_NAME', value: name },
    { name: 'GADGET_SCHEDULE_DUE', value: due },
    { name: 'GADGET_SCHEDULE_PREVIOUS', value: previous ?? '' },
  ]
  return (jobs as readonly TaskJob[]).map((job) => ({ ...job, env: [...(job.env ?? []), ...own] }))
}

/** Within the bound of a name: one that is cut keeps a digest of the rest. */
function nameOf({ name, due }: Schedule): string {
  const time = due.replaceAll(/\D/g, '').slice(0, 17)
  if (name.length <= 45) return `${name}-${time}`
  return `${name.slice(0, 36)}-${createHash('sha256').update(name).digest('hex').slice(0, 8)}-${time}`
}
