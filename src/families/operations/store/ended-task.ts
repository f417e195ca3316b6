import type { Phase } from '../../../core/vocabulary.ts'
import type { Client } from '../../../store/client.ts'
import { json, nullable, required, text, uuid } from '../../../store/column-types.ts'
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

/** A generated row is looked up in the index of roots, so this reads as many names as are taken, and one more. */
const FREE_NAME = statement({
  name: 'free-task-name',
  text: `select c.name from generate_series(2, 1000000) n
        cross join lateral (select left($2, 63 - length('-' || n)) || '-' || n as name) c
      where not exists (
        select from object where project_id = $1 and kind = 'TASK' and name = c.name and parent_id is null
      ) order by n limit 1`,
  params: [uuid, text],
  row: { name: required(text) },
})

/** The name with the first number from 2 that no task of the project has, e.g. `copy-2`. */
export async function numberedName({ client, projectId }: LockedProject, name: string): Promise<string> {
  const { rows } = await FREE_NAME.query(client, [projectId, name.replace(/-\d{1,6}$/, '')])
  // Were a million taken, this one would be refused as such.
  return rows[0]?.name ?? name
}
