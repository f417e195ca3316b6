import type { Located } from '../../../../cli/objects/address.ts'
import { printObjectLogs } from '../../../../cli/objects/object-logs.ts'
import type { Session } from '../../../../cli/session.ts'
import type { ExitCode } from '../../../../cli/terminal/exit.ts'
import { notFoundRefusal, type Outcome, refused } from '../../../../client-model/index.ts'
import { gql } from '../../../../documents/gql.ts'
import type { ResultOf } from '../../../../documents/typed-document.ts'

export interface LogsOptions {
  readonly job?: string
  readonly follow?: boolean
  readonly limit?: number
  readonly after?: string
}

const WORKER = gql(`query EventWorker($id: ID!) { object(id: $id) {
  ... on Event { worker { id children(first: 20) { totalCount edges { node { name } } } } }
} }`)
const JOB = gql(`query EventJob($project: String!, $path: [String!]!) {
  objectByPath(project: $project, kind: JOB, path: $path) { id }
}`)
type Worker = NonNullable<NonNullable<ResultOf<typeof WORKER>['object']>['worker']>

/** Prints the output of an event's worker, or of one of its jobs; with `follow` until it has ended. */
export async function eventLogs(session: Session, event: Located, options: LogsOptions): Promise<ExitCode> {
  const found = await findWorkload(session, event, options.job)
  if (!found.ok) return session.refuse(found.refusal)
  return await printObjectLogs(session, found.value, {
    follow: options.follow ? 'untilEnd' : 'no',
    newest: options.limit,
    after: options.after,
  })
}

async function findWorkload(
  { client, io }: Session,
  event: Located,
  job: string | undefined,
): Promise<Outcome<string>> {
  const { signal } = io
  const { object } = await client.query(WORKER, { id: event.id }, { signal })
  if (!object?.worker) return refused(notFoundRefusal(`${event.name} is gone.`))
  const { worker } = object
  if (job === undefined) return { ok: true, value: worker.id }
  const { objectByPath } = await client.query(
    JOB,
    { project: event.project.name, path: [event.name, 'worker', job] },
    { signal },
  )
  return objectByPath ? { ok: true, value: objectByPath.id } : refused(notFoundRefusal(noJob(event, job, worker)))
}

function noJob({ name }: Located, job: string, { children }: Worker): string {
  const names = children.edges.map(({ node }) => node.name).join(', ')
  const more = (children.totalCount ?? 0) > children.edges.length ? ', …' : ''
  return `${name} has no job ${job}${names === '' ? ', and none at all' : `: it has ${names}${more}`}.`
}
