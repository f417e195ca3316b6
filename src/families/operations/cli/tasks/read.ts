import { readNodes } from '../../../../cli/list.ts'
import { ATTEMPTS } from '../../../../cli/objects/describe-attempts.ts'
import { type FullObject, OBJECT_FIELDS } from '../../../../cli/objects/describe-object.ts'
import { pageOfKind } from '../../../../cli/objects/object-list.ts'
import type { Session } from '../../../../cli/session.ts'
import { gql } from '../../../../documents/gql.ts'
import type { NodeOf, ResultOf } from '../../../../documents/typed-document.ts'
import { RETRY_FIELDS } from '../../../../manifest/index.ts'

const RECORD = 'uuid startedAt endedAt gadget args locks { resource mode held position } activity'
const TASK = gql(`query GetTask($id: ID!) { object(id: $id) { ...Full } }\n${OBJECT_FIELDS}`)
const JOBS = gql(`query TaskJobs($id: ID!, $first: Int!, $after: String) { object(id: $id) {
  children(first: $first, after: $after) {
    totalCount pageInfo { hasNextPage endCursor }
    edges { node { ... on GadgetJob {
      id name phase phaseClass phaseSince finished error { code message } progress { step value total unit }
      blockedBy(first: 3) { reason message } ${RECORD}
    } } }
  }
} }`)
const JOB = gql(`query GetGadgetJob($id: ID!) { object(id: $id) {
  ...Full ... on GadgetJob { ${RECORD} agent { name instance } journal { entry at } exports ${ATTEMPTS}
    gadgetJobSpec { gadget args env { name value } when dependsOn retry { ${RETRY_FIELDS} } gate }
  }
} }\n${OBJECT_FIELDS}`)
/** A job in full. Uuid and arguments are null before its turn, when their expressions are not resolved yet. */
export type FullJob = Extract<ResultOf<typeof JOB>['object'], { readonly gadget: string }>
/** A job in the list of its task. */
export type ListedJob = Extract<
  NodeOf<NonNullable<ResultOf<typeof JOBS>['object']>['children']>,
  { readonly id: string }
>
/** A lock that a job holds or waits for. `position` counts the waiters of the resource from 1; null when it is held. */
export type JobLock = ListedJob['locks'][number]
export interface TaskWithJobs extends FullObject {
  readonly jobs: readonly ListedJob[]
}

/** Enough for a screen; `get --kind gadget-job --all` lists without a limit. */
const MOST_JOBS = 1_000

/** The task with its jobs, in the order of its file; null when it is gone. */
export async function readTask(session: Session, id: string): Promise<TaskWithJobs | null> {
  const { object } = await session.client.query(TASK, { id }, { signal: session.io.signal })
  if (!object) return null
  const pages = { document: JOBS, page: (found: ResultOf<typeof JOBS>) => pageOfKind(found.object?.children) }
  return { ...object, jobs: await readNodes(session, pages, { id }, MOST_JOBS) }
}

/** Null when it is gone. */
export async function readJob({ client, io }: Session, id: string): Promise<FullJob | null> {
  const { object } = await client.query(JOB, { id }, { signal: io.signal })
  return object?.gadget === undefined ? null : object
}
