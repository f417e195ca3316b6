import { checkWords } from '../../../../cli/objects/check-words.ts'
import { markedPhase } from '../../../../cli/objects/phases.ts'
import type { LabelArgument } from '../../../../cli/options.ts'
import type { Session } from '../../../../cli/session.ts'
import { EXIT, type ExitCode } from '../../../../cli/terminal/exit.ts'
import { duration, shorten } from '../../../../cli/terminal/text.ts'
import type { Phase } from '../../../../core/vocabulary.ts'
import { gql } from '../../../../documents/gql.ts'
import type { NodeOf, ResultOf } from '../../../../documents/typed-document.ts'

/** Options that select events; all must match. */
export interface EventFilter {
  readonly project?: string
  readonly phase?: readonly Phase[]
  readonly source?: string
  readonly type?: string
  readonly qualifier?: readonly LabelArgument[]
  readonly label?: readonly LabelArgument[]
}
interface FoundEvents {
  /** Newest first. */
  readonly events: readonly ListedEvent[]
  /** Null when not all were read. */
  readonly totalCount: number | null
}

const LIST = gql(`query ListEvents($filter: ObjectFilter, $first: Int!, $after: String) {
  objects(filter: $filter, first: $first, after: $after, orderBy: { field: CREATED_AT, direction: DESC }) {
    totalCount pageInfo { hasNextPage endCursor }
    edges { node {
      id name phase phaseClass phaseSince createdAt project { name } error { code }
      ... on Event { source type qualifiers { key value } worker { startedAt endedAt } }
    } }
  }
}`)
type Connection = NonNullable<ResultOf<typeof LIST>['objects']>
type ListedEvent = Extract<NodeOf<Connection>, { readonly source: string }>
const PAGE = 200
const SOURCE_SHOWN = 40

/** `event list`. */
export async function listEvents(session: Session, filter: EventFilter, limit: number): Promise<ExitCode> {
  const wrong = await checkWords(session, { phases: filter.phase })
  if (wrong) return session.refuse(wrong)
  const { events, totalCount } = await findEvents(session, filter, limit)
  session.emit({ totalCount, events })
  const head = ['PROJECT', 'NAME', 'SOURCE', 'TYPE', 'PHASE', 'SINCE', 'TOOK', 'ERROR']
  session.list({ head, rows: events.map(rowOf), none: 'Nothing matches.', listed: { totalCount, nodes: events } })
  return EXIT.ok
}

/** The newest matches. The server filters by project, phase and labels; the other options filter its pages here. */
export async function findEvents(session: Session, filter: EventFilter, limit: number): Promise<FoundEvents> {
  const isJudgedHere = [filter.source, filter.type, filter.qualifier].some((value) => value !== undefined)
  const first = isJudgedHere ? PAGE : Math.min(PAGE, limit)
  const fitting: ListedEvent[] = []
  let page: Connection | undefined
  do {
    page = await readPage(session, filter, first, page?.pageInfo.endCursor ?? null)
    fitting.push(...eventsOf(page).filter((event) => fits(event, filter)))
  } while (page.pageInfo.hasNextPage && fitting.length < limit)
  const known = isJudgedHere ? null : page.totalCount
  return { events: fitting.slice(0, limit), totalCount: known ?? (page.pageInfo.hasNextPage ? null : fitting.length) }
}

async function readPage(
  { client, io }: Session,
  filter: EventFilter,
  first: number,
  after: string | null,
): Promise<Connection> {
  const { objects } = await client.query(LIST, { filter: serverFilter(filter), first, after }, { signal: io.signal })
  return objects ?? NONE
}
const NONE: Connection = { totalCount: 0, pageInfo: { hasNextPage: false, endCursor: null }, edges: [] }

const eventsOf = ({ edges }: Connection): readonly ListedEvent[] =>
  edges.flatMap(({ node }) => (node.source === undefined ? [] : [node]))

const serverFilter = ({ project, phase, label }: EventFilter) => ({
  kinds: ['EVENT'] as const,
  rootsOnly: true,
  ...(project === undefined ? {} : { project }),
  ...(phase ? { phases: phase } : {}),
  ...(label ? { labels: label } : {}),
})

function fits(event: ListedEvent, { source, type, qualifier }: EventFilter): boolean {
  if (source !== undefined && event.source !== source) return false
  if (type !== undefined && event.type !== type) return false
  if (qualifier === undefined) return true
  const { qualifiers } = event
  return (
    qualifiers.length === qualifier.length &&
    qualifier.every(({ key, value }) => qualifiers.some((one) => one.key === key && one.value === value))
  )
}

const rowOf = (event: ListedEvent): string[] => [
  event.project.name,
  event.name,
  shorten(event.source, SOURCE_SHOWN),
  shorten(event.type, SOURCE_SHOWN),
  markedPhase(event),
  duration(Math.max(0, Date.now() - Date.parse(event.phaseSince))),
  took(event.worker),
  event.error?.code ?? '',
]

/** Duration of its run; empty before the start. */
export function took(workload: { readonly startedAt: string | null; readonly endedAt: string | null } | null): string {
  if (!workload?.startedAt) return ''
  const end = workload.endedAt === null ? Date.now() : Date.parse(workload.endedAt)
  return duration(Math.max(0, end - Date.parse(workload.startedAt)))
}
