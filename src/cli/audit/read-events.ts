import { gql } from '../../documents/gql.ts'
import type { ResultOf } from '../../documents/typed-document.ts'
import type { Session } from '../session.ts'

const EVENTS = gql(`query AuditEvents($filter: AuditFilterInput, $last: Int, $before: String) {
  auditLog(filter: $filter, last: $last, before: $before) {
    pageInfo { hasPreviousPage startCursor }
    edges { node {
      sequence hash id at principalId principalName tokenId actor address requestId operation projectId projectName
      objectId objectKind objectName outcome code fields count
    } }
  }
}`)
export type AuditEvent = NonNullable<ResultOf<typeof EVENTS>['auditLog']>['edges'][number]['node']

const PAGE = 200

/** Events after a sequence, the oldest first, page by page. */
export async function* eventsAfter(
  session: Session,
  after: number,
  filter: object = {},
): AsyncGenerator<readonly AuditEvent[]> {
  let before = String(after)
  for (;;) {
    const variables = { filter, last: PAGE, before }
    const { auditLog } = await session.client.query(EVENTS, variables, { signal: session.io.signal })
    if (!auditLog) return
    yield auditLog.edges.map(({ node }) => node).toReversed()
    const { hasPreviousPage, startCursor } = auditLog.pageInfo
    if (!hasPreviousPage || startCursor === null) return
    before = startCursor
  }
}
