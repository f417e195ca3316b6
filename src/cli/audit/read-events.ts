import { countFurther, type Further, nextCursor } from '../../client-model/index.ts'
import { gql } from '../../documents/gql.ts'
import type { ResultOf, VariablesOf } from '../../documents/typed-document.ts'
import { readNodes } from '../list.ts'
import type { Session } from '../session.ts'

const EVENT = `sequence cursor hash id at principalId principalName tokenId actor address requestId operation projectId projectName
      objectId objectKind objectName outcome code fields count`
const EVENTS = gql(`query AuditEvents($filter: AuditFilter, $last: Int, $before: String) {
  auditLog(filter: $filter, last: $last, before: $before) {
    pageInfo { hasPreviousPage startCursor }
    edges { node { ${EVENT} } }
  }
}`)
const NEWEST = gql(`query NewestAuditEvents($filter: AuditFilter, $first: Int, $after: String) {
  auditLog(filter: $filter, first: $first, after: $after) {
    pageInfo { hasNextPage endCursor }
    edges { node { ${EVENT} } }
  }
}`)
const OLDER = gql(`query OlderAuditEvents($filter: AuditFilter, $first: Int!, $after: String) {
  auditLog(filter: $filter, first: $first, after: $after) { pageInfo { hasNextPage endCursor } edges { cursor } }
}`)
const FOLLOW = gql(`subscription FollowAuditEvents($filter: AuditFilter, $after: String) {
  auditEvents(filter: $filter, after: $after) { ${EVENT} }
}`)
/** The filter of `auditLog`. */
export type AuditFilter = NonNullable<VariablesOf<typeof EVENTS>['filter']>
export type AuditEvent = NonNullable<ResultOf<typeof EVENTS>['auditLog']>['edges'][number]['node']

const PAGE = 200

/** Events after a place, the oldest first, page by page. */
export async function* eventsAfter(
  session: Session,
  after: string,
  filter: AuditFilter = {},
): AsyncGenerator<readonly AuditEvent[]> {
  for (let next: string | null = after; next !== null; ) {
    const page: EventPage = await eventPageAfter(session, next, filter)
    yield page.events
    next = page.next
  }
}

interface EventPage {
  readonly events: readonly AuditEvent[]
  /** The cursor of the next page; null: there is none. */
  readonly next: string | null
}
export async function eventPageAfter(
  { client, io }: Session,
  before: string,
  filter: AuditFilter = {},
): Promise<EventPage> {
  const { auditLog } = await client.query(EVENTS, { filter, last: PAGE, before }, { signal: io.signal })
  if (!auditLog) return { events: [], next: null }
  const { hasPreviousPage, startCursor } = auditLog.pageInfo
  return { events: auditLog.edges.map(({ node }) => node).toReversed(), next: hasPreviousPage ? startCursor : null }
}

/** The events before one, that is after it in the order of `auditLog`. */
export async function countOlderEvents({ client, io }: Session, filter: AuditFilter, after: string): Promise<Further> {
  const { auditLog } = await client.query(OLDER, { filter, first: PAGE, after }, { signal: io.signal })
  return countFurther(auditLog, nextCursor(auditLog))
}

/** So many of the newest events, the oldest of them first. */
export async function newestEvents(
  session: Session,
  filter: AuditFilter,
  count: number,
): Promise<readonly AuditEvent[]> {
  const pages = { document: NEWEST, page: ({ auditLog }: ResultOf<typeof NEWEST>) => auditLog }
  return (await readNodes(session, pages, { filter }, count)).toReversed()
}

const PATHS = gql(`query AuditedPaths($ids: [ID!]!) { nodes(ids: $ids) { ... on TreeObject { id path } } }`)
const IDS = 500

/** The paths of the objects that are still there and that the user may read, by their ids. */
export async function readPaths({ client, io }: Session, events: readonly AuditEvent[]) {
  const ids = [...new Set(events.flatMap(({ objectId }) => objectId ?? []))]
  const paths = new Map<string, string>()
  for (let i = 0; i < ids.length; i += IDS) {
    const { nodes } = await client.query(PATHS, { ids: ids.slice(i, i + IDS) }, { signal: io.signal })
    for (const node of nodes) if (node && 'path' in node && node.path) paths.set(node.id, node.path)
  }
  return paths
}

/** Events after a place, and what comes, each once across reconnects; without a place from now on. */
export async function* followEvents(
  session: Session,
  filter: AuditFilter,
  start: string | undefined,
): AsyncGenerator<AuditEvent> {
  let after = start
  const place = () => ({ filter, after: after ?? null })
  for await (const { auditEvents } of session.client.subscribe(FOLLOW, place, { signal: session.io.signal })) {
    yield auditEvents
    after = auditEvents.cursor
  }
}
