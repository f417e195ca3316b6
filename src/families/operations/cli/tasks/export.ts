import type { Exportable } from '../../../../cli/manifests/appliable.ts'
import { pageOfKind } from '../../../../cli/objects/object-list.ts'
import type { Session } from '../../../../cli/session.ts'
import { nextCursor, nodesOf, readOn } from '../../../../client-model/index.ts'
import { gql } from '../../../../documents/gql.ts'
import type { NodeOf, ResultOf } from '../../../../documents/typed-document.ts'
import { RETRY_FIELDS, taskManifest } from '../../../../manifest/index.ts'

const JOB = `pageInfo { hasNextPage endCursor } edges { node { ... on GadgetJob {
  name gadgetJobSpec { gadget args env { name value } when dependsOn retry { ${RETRY_FIELDS} } gate }
} } }`
const TASKS = gql(`query ExportTasks($ids: [ID!]!) {
  nodes(ids: $ids) { ... on Task { id name project { name } labels { key value } children(first: 100) { ${JOB} } } }
}`)
const MORE_JOBS = gql(`query ExportJobs($id: ID!, $after: String) {
  object(id: $id) { children(first: 100, after: $after) { ${JOB} } }
}`)
type Task = Extract<ResultOf<typeof TASKS>['nodes'][number], { readonly id: string }>
type Job = Extract<NodeOf<Task['children']>, { readonly name: string }>
type Shown = Omit<Task, 'children'> & { readonly jobs: readonly Job[] }

/** Tasks: documents of `task run`, since a task is run and not applied. */
export const tasks: Exportable<Shown> = {
  ...{ kind: 'Task', objectKind: 'TASK' },
  label: ({ project, name }) => `task ${project}/${name}`,
  manifest: ({ jobs, ...task }) =>
    taskManifest({ ...task, jobs: jobs.flatMap(({ name, gadgetJobSpec: spec }) => (spec ? [{ name, spec }] : [])) }),
  async read(session, ids) {
    const { nodes } = await session.client.query(TASKS, { ids }, { signal: session.io.signal })
    const read: (Shown | null)[] = []
    for (const node of nodes) read.push(node?.id === undefined ? null : await withAllJobs(session, node))
    return read
  },
}

/** Most tasks have no more jobs than one page. */
async function withAllJobs({ client, io }: Session, { children, ...task }: Task): Promise<Shown> {
  const page = pageOfKind(children)
  const [jobs, start] = [[...nodesOf(page)], nextCursor(page)]
  if (start === null) return { ...task, jobs }
  const more = readOn(start, async (after) => {
    const { object } = await client.query(MORE_JOBS, { id: task.id, after }, { signal: io.signal })
    return pageOfKind(object?.children)
  })
  for await (const some of more) jobs.push(...some)
  return { ...task, jobs }
}
