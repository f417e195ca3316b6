import type { Session } from '../../../../cli/session.ts'
import { EXIT, type ExitCode } from '../../../../cli/terminal/exit.ts'
import { duration } from '../../../../cli/terminal/text.ts'
import { notFoundRefusal, readPages } from '../../../../client-model/index.ts'
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
  const head = ['RESOURCE', 'MODE', 'STATE', 'POSITION', 'AGE', 'PHASE', 'JOB']
  const none =
    resource === undefined ? 'Nothing is locked, and nobody waits.' : `Nobody holds ${resource}, or waits for it.`
  session.list({ head, rows: listed.nodes.map(rowOf), none, listed })
  return EXIT.ok
}

const rowOf = ({ resource, mode, held, position, declaredAt, grantedAt, object }: ListedLock): string[] => [
  resource,
  letterOf(mode),
  held ? 'holds' : 'waits',
  held ? '' : String(position ?? ''),
  duration(Math.max(0, Date.now() - Date.parse(grantedAt ?? declaredAt))),
  object?.phase ?? '',
  object ? `${object.project.name}/${object.root.name}/${object.name}` : '(of another project)',
]
