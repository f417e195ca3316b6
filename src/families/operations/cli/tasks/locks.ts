import { describeRest, type PagedList, readPages } from '../../../../cli/objects/pages.ts'
import { notFoundRefusal } from '../../../../cli/objects/refusal.ts'
import type { Session } from '../../../../cli/session.ts'
import { EXIT, type ExitCode } from '../../../../cli/terminal/exit.ts'
import { table } from '../../../../cli/terminal/table.ts'
import { duration } from '../../../../cli/terminal/text.ts'
import { gql } from '../../../../documents/gql.ts'
import type { NodeOf, ResultOf } from '../../../../documents/typed-document.ts'
import { letterOf } from './describe.ts'

export interface LocksOptions {
  readonly resource?: string
  readonly limit: number
}
const LOCKS = gql(`query Locks($resource: String, $first: Int!, $after: String) {
  locks(resource: $resource, first: $first, after: $after) {
    totalCount pageInfo { hasNextPage endCursor }
    edges { node {
      resource mode held position declaredAt grantedAt object { id name phase project { name } root { name } }
    } }
  }
}`)
/** `object` is null when the user may not read it. */
type ListedLock = NodeOf<ResultOf<typeof LOCKS>['locks']>

/** `locks`: holders and waiters of each resource, in order. */
export async function listLocks(session: Session, { resource, limit }: LocksOptions): Promise<ExitCode> {
  const { client, io } = session
  const listed = await readPages(limit, async (first, after) => {
    const { locks } = await client.query(LOCKS, { resource: resource ?? null, first, after }, { signal: io.signal })
    return locks
  })
  if (!listed) return session.refuse(notFoundRefusal('There is nothing to list.'))
  session.emit({ totalCount: listed.totalCount, locks: listed.nodes })
  session.say(...describeLocks(listed, resource, Date.now()))
  return EXIT.ok
}

function describeLocks(listed: PagedList<ListedLock>, resource: string | undefined, now: number): string[] {
  if (listed.nodes.length === 0) {
    return [
      resource === undefined ? 'Nothing is locked, and nobody waits.' : `Nobody holds ${resource}, or waits for it.`,
    ]
  }
  const rows = listed.nodes.map(({ resource: name, mode, held, position, declaredAt, grantedAt, object }) => [
    name,
    letterOf(mode),
    held ? 'holds' : 'waits',
    held ? '' : String(position ?? ''),
    duration(Math.max(0, now - Date.parse(grantedAt ?? declaredAt))),
    object?.phase ?? '',
    object ? `${object.project.name}/${object.root.name}/${object.name}` : '(of another project)',
  ])
  return [...table(['RESOURCE', 'MODE', 'STATE', 'POSITION', 'AGE', 'PHASE', 'JOB'], rows), ...describeRest(listed)]
}
