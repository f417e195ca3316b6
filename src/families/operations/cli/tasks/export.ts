import { readNodes } from '../../../../cli/list.ts'
import type { Exportable } from '../../../../cli/manifests/appliable.ts'
import { pageOfKind } from '../../../../cli/objects/object-list.ts'
import type { Session } from '../../../../cli/session.ts'
import { gql } from '../../../../documents/gql.ts'
import type { NodeOf, ResultOf } from '../../../../documents/typed-document.ts'
import { RETRY_FIELDS, taskManifest } from '../../../../manifest/index.ts'

const TASK = gql(`query ExportTask($id: ID!) {
  object(id: $id) { ... on Task { id name project { name } labels { key value } } }
}`)
const JOBS = gql(`query ExportJobs($id: ID!, $first: Int!, $after: String) { object(id: $id) {
  children(first: $first, after: $after) {
    pageInfo { hasNextPage endCursor }
    edges { node { ... on GadgetJob {
      name gadgetJobSpec { gadget args env { name value } when dependsOn retry { ${RETRY_FIELDS} } }
    } } }
  }
} }`)
type Task = Extract<ResultOf<typeof TASK>['object'], { readonly id: string }>
type Job = Extract<NodeOf<NonNullable<ResultOf<typeof JOBS>['object']>['children']>, { readonly name: string }>
type Shown = Task & { readonly jobs: readonly Job[] }

/** Tasks: documents of `task run`, since a task is run and not applied. */
export const tasks: Exportable<Shown> = {
  ...{ kind: 'Task', objectKind: 'TASK' },
  label: ({ project, name }) => `task ${project}/${name}`,
  manifest: ({ jobs, ...task }) =>
    taskManifest({ ...task, jobs: jobs.flatMap(({ name, gadgetJobSpec: spec }) => (spec ? [{ name, spec }] : [])) }),
  read: async (session, ids) => {
    const read: (Shown | null)[] = []
    for (const id of ids) read.push(await readTask(session, id))
    return read
  },
}

async function readTask(session: Session, id: string): Promise<Shown | null> {
  const { object } = await session.client.query(TASK, { id }, { signal: session.io.signal })
  if (object?.id === undefined) return null
  const pages = { document: JOBS, page: (found: ResultOf<typeof JOBS>) => pageOfKind(found.object?.children) }
  return { ...object, jobs: await readNodes(session, pages, { id }) }
}
