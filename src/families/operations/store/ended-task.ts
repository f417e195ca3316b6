import type { Phase } from '../../../core/vocabulary.ts'
import type { Client } from '../../../store/client.ts'
import { array, json, nullable, required, text, uuid } from '../../../store/column-types.ts'
import { statement } from '../../../store/statement.ts'
import * as table from '../../../store/tables.ts'
import type { LockedProject } from '../../family.ts'
import type { JobDetails } from '../rules/details.ts'
import type { JobSpec } from '../rules/spec.ts'

/** Queries of the command that runs a task again. */

interface ReadTask {
  readonly name: string
  readonly phase: Phase
  readonly labels: Readonly<Record<string, string>>
}
const READ_TASK = statement({
  name: 'read-task',
  text: 'select o.name, o.phase, s.labels from object o join object_spec s on s.object_id = o.id where o.id = $1',
  params: [uuid],
  row: { name: table.object.name, phase: table.object.phase, labels: json<ReadTask['labels']>() },
})
const READ_JOBS = statement({
  name: 'read-task-jobs',
  text: `select o.phase, s.spec, j.exports from object o
        join object_spec s on s.object_id = o.id join gadget_job j on j.object_id = o.id
      where o.parent_id = $1 order by o.ordinal`,
  params: [uuid],
  row: {
    phase: table.object.phase,
    spec: required(json<JobSpec>()),
    exports: nullable(json<NonNullable<JobDetails['exports']>>()),
  },
})

/** A task with its jobs; null: it is gone. */
export async function readTask(client: Client, id: string) {
  const [task] = (await READ_TASK.query(client, [id])).rows
  return task ? { ...task, jobs: (await READ_JOBS.query(client, [id])).rows } : null
}

const TAKEN_NAMES = statement({
  name: 'taken-task-names',
  text: `select name from object where project_id = $1 and kind = 'TASK' and name = any($2) and parent_id is null`,
  params: [uuid, array(text)],
  row: { name: table.object.name },
})
/** Names that are looked at in one query. */
const AT_ONCE = 100
const LONGEST = 63

/** The name with the first number from 2 that no task of the project has, e.g. `copy-2`. */
export async function numberedName({ client, projectId }: LockedProject, name: string): Promise<string> {
  const base = name.replace(/-\d{1,6}$/, '')
  for (let from = 2; ; from += AT_ONCE) {
    const candidates = Array.from({ length: AT_ONCE }, (_, i) => {
      const ending = `-${from + i}`
      return base.slice(0, LONGEST - ending.length) + ending
    })
    const { rows } = await TAKEN_NAMES.query(client, [projectId, candidates])
    const free = candidates.find((one) => !rows.some((row) => row.name === one))
    if (free !== undefined) return free
  }
}
