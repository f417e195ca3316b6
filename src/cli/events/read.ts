import type { PhaseClass } from '../../core/machine.ts'
import { type FullObject, OBJECT_FIELDS } from '../objects/describe-object.ts'
import { type Page, readPages } from '../objects/pages.ts'
import type { Session } from '../session.ts'
import type { Blocker } from '../tree/model.ts'

/** A worker or a job. */
export interface Workload {
  readonly id: string
  readonly name: string
  readonly phase: string
  readonly phaseClass: PhaseClass
  readonly phaseSince: string
  readonly finished: boolean
  readonly error: { readonly code: string; readonly message: string } | null
  readonly blockedBy: readonly Blocker[]
  readonly startedAt: string | null
  readonly endedAt: string | null
  readonly exitCode: number | null
  readonly signal: string | null
  readonly attempt: number
  readonly agent: { readonly name: string; readonly instance: string; readonly leaseUntil: string | null } | null
  readonly resources: readonly {
    readonly kind: string
    readonly removeAt: string | null
    readonly removedAt: string | null
  }[]
  readonly spec: {
    readonly runtime: string
    readonly image: string | null
    readonly command: readonly string[]
    readonly args: readonly string[]
    readonly timeoutMs: number | null
    readonly workspace: boolean
  } | null
}
export interface Job extends Workload {
  readonly inheritedFrom: { readonly root: { readonly name: string } } | null
}
export interface FullEvent extends FullObject {
  readonly source: string
  readonly type: string
  readonly qualifiers: readonly { readonly key: string; readonly value: string }[]
  readonly payload: string | null
  readonly subscribed: boolean
  readonly retryOf: { readonly name: string } | null
  readonly cloneOf: { readonly name: string } | null
  /** Null once it is gone. */
  readonly worker: Workload | null
}
export interface EventWithJobs extends FullEvent {
  readonly jobs: readonly Job[]
}

const WORKLOAD = `
  id name phase phaseClass phaseSince finished error { code message } blockedBy(first: 5) { reason message }
  startedAt endedAt exitCode signal attempt agent { name instance leaseUntil }
  resources { kind removeAt removedAt } spec { runtime image command args timeoutMs workspace }`
const EVENT = `query GetEvent($id: ID!) { object(id: $id) {
  ...Full
  ... on Event {
    source type qualifiers { key value } payload subscribed retryOf { name } cloneOf { name } worker { ${WORKLOAD} }
  }
} }\n${OBJECT_FIELDS}`
const JOBS = `query EventJobs($id: ID!, $first: Int!, $after: String) { object(id: $id) {
  children(first: $first, after: $after) {
    totalCount pageInfo { hasNextPage endCursor }
    edges { node { ... on Job { ${WORKLOAD} inheritedFrom { root { name } } } } }
  }
} }`
/** More jobs than anybody reads; `get --kind job` lists without a limit. */
const MOST_JOBS = 1_000

/** The event with its worker and jobs, in the order of their creation; null once it is gone. */
export async function readEvent({ client, io }: Session, id: string): Promise<EventWithJobs | null> {
  const { object } = await client.query<{ object: FullEvent | null }>(EVENT, { id }, { signal: io.signal })
  if (!object?.worker) return object && { ...object, jobs: [] }
  const { worker } = object
  const jobs = await readPages(MOST_JOBS, async (first, after) => {
    const { object: parent } = await client.query<{ object: { readonly children: Page<Job> } | null }>(
      JOBS,
      { id: worker.id, first, after },
      { signal: io.signal },
    )
    return parent?.children ?? null
  })
  return { ...object, jobs: jobs?.nodes ?? [] }
}
