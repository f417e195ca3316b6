import { readNodes } from '../../../../cli/list.ts'
import { ATTEMPTS } from '../../../../cli/objects/describe-attempts.ts'
import { OBJECT_FIELDS } from '../../../../cli/objects/describe-object.ts'
import { pageOfKind } from '../../../../cli/objects/object-list.ts'
import type { Session } from '../../../../cli/session.ts'
import { gql } from '../../../../documents/gql.ts'
import type { NodeOf, ResultOf } from '../../../../documents/typed-document.ts'
import { WORKLOAD_SPEC_FIELDS } from '../../../../manifest/index.ts'

const WORKLOAD = `
  id name phase phaseClass phaseSince finished error { code message } blockedBy(first: 5) { reason message }
  startedAt endedAt exitCode signal commit attempt agent { name instance leaseUntil }
  resources { kind removeAt removedAt } workloadSpec { runtime image command args timeoutMs workspace services { name image command args } clone { url ref } }
  ${ATTEMPTS}`
const EVENT = gql(`query GetEvent($id: ID!) { object(id: $id) {
  ...Full
  ... on Event {
    source type qualifiers { key value } payload subscribed retryOf { name } cloneOf { name } worker { ${WORKLOAD} }
  }
} }\n${OBJECT_FIELDS}`)
const JOBS = gql(`query EventJobs($id: ID!, $first: Int!, $after: String) { object(id: $id) {
  children(first: $first, after: $after) {
    totalCount pageInfo { hasNextPage endCursor }
    edges { node { ... on Job { ${WORKLOAD} inheritedFrom { root { name } } } } }
  }
} }`)
const ONE = `workloadSpec {${WORKLOAD_SPEC_FIELDS} takes { artifact from path } }
  startedAt endedAt exitCode signal commit attempt agent { name instance leaseUntil } resources { kind removeAt removedAt } ${ATTEMPTS}`
const ONE_WORKLOAD = gql(`query GetWorkload($id: ID!) { object(id: $id) {
  ...Full ... on Worker { ${ONE} } ... on Job { ${ONE} inheritedFrom { root { name } } }
} }\n${OBJECT_FIELDS}`)
/** An event with its fields of every kind. `worker` is null when it is gone. */
export type FullEvent = Extract<ResultOf<typeof EVENT>['object'], { readonly source: string }>
export type Job = Extract<NodeOf<NonNullable<ResultOf<typeof JOBS>['object']>['children']>, { readonly id: string }>
/** A worker or a job. */
export type Workload = NonNullable<FullEvent['worker']>
/** A worker or a job with its whole spec. */
export type FullWorkload = Extract<ResultOf<typeof ONE_WORKLOAD>['object'], { readonly exitCode: number | null }>
export interface EventWithJobs extends FullEvent {
  readonly jobs: readonly Job[]
}

/** Enough for a screen; `get --kind job` lists without a limit. */
const MOST_JOBS = 1_000

/** The event with its worker and jobs, in the order of their creation; null when it is gone. */
export async function readEvent(session: Session, id: string): Promise<EventWithJobs | null> {
  const { object } = await session.client.query(EVENT, { id }, { signal: session.io.signal })
  if (object?.source === undefined) return null
  return { ...object, jobs: object.worker ? await readJobs(session, object.worker.id) : [] }
}

/** Null when it is gone. */
export async function readWorkload({ client, io }: Session, id: string): Promise<FullWorkload | null> {
  const { object } = await client.query(ONE_WORKLOAD, { id }, { signal: io.signal })
  return object?.exitCode === undefined ? null : object
}

async function readJobs(session: Session, id: string): Promise<readonly Job[]> {
  const pages = { document: JOBS, page: ({ object }: ResultOf<typeof JOBS>) => pageOfKind(object?.children) }
  return await readNodes(session, pages, { id }, MOST_JOBS)
}
