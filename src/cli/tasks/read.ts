import type { PhaseClass } from '../../core/machine.ts'
import { type FullObject, OBJECT_FIELDS } from '../objects/describe-object.ts'
import { type Page, readPages } from '../objects/pages.ts'
import type { Session } from '../session.ts'
import type { Blocker, Progress } from '../tree/model.ts'

/** A lock that a job holds or waits for. */
export interface JobLock {
  readonly resource: string
  readonly mode: 'SHARED' | 'EXCLUSIVE'
  readonly held: boolean
  /** Its place among those that wait for the resource, from 1; null when it is held. */
  readonly position: number | null
}
interface JobRecord {
  /** Null before its turn, as are its arguments: their expressions are not resolved yet. */
  readonly uuid: string | null
  readonly args: readonly string[] | null
  readonly startedAt: string | null
  readonly endedAt: string | null
  readonly gadget: string
  readonly locks: readonly JobLock[]
  readonly activity: string | null
}
/** A job as its task lists it. */
export interface ListedJob extends JobRecord {
  readonly id: string
  readonly name: string
  readonly phase: string
  readonly phaseClass: PhaseClass
  readonly phaseSince: string
  readonly finished: boolean
  readonly error: { readonly code: string; readonly message: string } | null
  readonly progress: Progress | null
  readonly blockedBy: readonly Blocker[]
}
export interface TaskWithJobs extends FullObject {
  readonly jobs: readonly ListedJob[]
}
/** A job with all there is to say of it. */
export interface FullJob extends FullObject, JobRecord {
  readonly agent: { readonly name: string; readonly instance: string } | null
  /** As it was asked for. */
  readonly spec: { readonly args: readonly string[]; readonly when: string | null } | null
  readonly journal: readonly { readonly entry: string; readonly at: string }[]
  readonly exports: Readonly<Record<string, unknown>> | null
}

const RECORD = 'uuid startedAt endedAt gadget args locks { resource mode held position } activity'
const TASK = `query GetTask($id: ID!) { object(id: $id) { ...Full } }\n${OBJECT_FIELDS}`
const JOBS = `query TaskJobs($id: ID!, $first: Int!, $after: String) { object(id: $id) {
  children(first: $first, after: $after) {
    totalCount pageInfo { hasNextPage endCursor }
    edges { node { ... on GadgetJob {
      id name phase phaseClass phaseSince finished error { code message } progress { step value total unit }
      blockedBy(first: 3) { reason message } ${RECORD}
    } } }
  }
} }`
const JOB = `query GetGadgetJob($id: ID!) { object(id: $id) {
  ...Full ... on GadgetJob { ${RECORD} agent { name instance } spec { args when } journal { entry at } exports }
} }\n${OBJECT_FIELDS}`
/** More jobs than anybody reads; `get --kind gadget-job --all` lists without a limit. */
const MOST_JOBS = 1_000

/** The task with its jobs, in the order of the file; null once it is gone. */
export async function readTask({ client, io }: Session, id: string): Promise<TaskWithJobs | null> {
  const { object } = await client.query<{ object: FullObject | null }>(TASK, { id }, { signal: io.signal })
  if (!object) return null
  const jobs = await readPages(MOST_JOBS, async (first, after) => {
    const { object: parent } = await client.query<{ object: { readonly children: Page<ListedJob> } | null }>(
      JOBS,
      { id, first, after },
      { signal: io.signal },
    )
    return parent?.children ?? null
  })
  return { ...object, jobs: jobs?.nodes ?? [] }
}

/** Null once it is gone. */
export async function readJob({ client, io }: Session, id: string): Promise<FullJob | null> {
  const { object } = await client.query<{ object: FullJob | null }>(JOB, { id }, { signal: io.signal })
  return object
}
