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

/** It looks the names up one by one in the index of roots, so it reads as many as are taken, and one more. */
const FREE_NAME = statement({
  name: 'free-task-name',
  text: `with recursive tried (n, name, taken) as (
      select 1, $2, true
      union all
      select next.n, next.name, coalesce((
          select true from object o where o.project_id = $1 and o.kind = 'TASK' and o.name = next.name and o.parent_id is null limit 1
        ), false)
      from tried cross join lateral (
        select tried.n + 1 as n, left($2, 62 - length((tried.n + 1)::text)) || '-' || (tried.n + 1) as name
      ) next where tried.taken and tried.n < 1000000
    )
    select name from tried where not taken`,
  params: [uuid, text],
  row: { name: required(text) },
})

/** The name with the first number from 2 that no task of the project has, e.g. `copy-2`. */
export async function numberedName({ client, projectId }: LockedProject, name: string): Promise<string> {
  const { rows } = await FREE_NAME.query(client, [projectId, name.replace(/-\d{1,6}$/, '')])
  // Were a million taken, this one would be refused as such.
  return rows[0]?.name ?? name
}
