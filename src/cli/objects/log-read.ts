import type { PhaseChange } from '../../client/index.ts'
import { gql } from '../../documents/gql.ts'
import type { ResultOf, VariablesOf } from '../../documents/typed-document.ts'
import type { Session } from '../session.ts'

const FIELDS = `fragment Logged on PhaseChange {
  sequence cursor objectId kind name path rootId projectName machine from to actor by reason message jobId revision rejected at
}`
const NEWEST = gql(`query Newest($filter: PhaseChangeFilter, $last: Int!, $before: String) {
  phaseChanges(filter: $filter, last: $last, before: $before) {
    pageInfo { hasPreviousPage startCursor } edges { node { ...Logged } }
  }
}\n${FIELDS}`)
const OLDEST = gql(`query Oldest($filter: PhaseChangeFilter, $first: Int!, $after: String) {
  phaseChanges(filter: $filter, first: $first, after: $after) {
    pageInfo { hasNextPage endCursor } edges { node { ...Logged } }
  }
}\n${FIELDS}`)
export type Filter = NonNullable<VariablesOf<typeof NEWEST>['filter']>
/** A phase change of this query, or of the log that the client follows. */
export type LoggedChange = PhaseChange

const PAGE = 100

/** The newest phase changes that match, oldest first. */
export async function readNewest(
  { client, io }: Session,
  filter: Filter,
  limit: number,
): Promise<readonly LoggedChange[]> {
  const changes: LoggedChange[] = []
  let before: string | null = null
  while (changes.length < limit) {
    const last = Math.min(PAGE, limit - changes.length)
    const { phaseChanges }: ResultOf<typeof NEWEST> = await client.query(
      NEWEST,
      { filter, last, before },
      { signal: io.signal },
    )
    if (!phaseChanges) break
    changes.unshift(...phaseChanges.edges.map(({ node }) => node))
    before = phaseChanges.pageInfo.startCursor
    if (!phaseChanges.pageInfo.hasPreviousPage || before === null) break
  }
  return changes
}

const FORWARD_PAGE = 500

/** All phase changes that match, oldest first, page by page: a page may be empty before the last one. */
export async function* readForward({ client, io }: Session, filter: Filter): AsyncGenerator<readonly LoggedChange[]> {
  let after: string | null = null
  do {
    const { phaseChanges }: ResultOf<typeof OLDEST> = await client.query(
      OLDEST,
      { filter, first: FORWARD_PAGE, after },
      { signal: io.signal },
    )
    if (!phaseChanges) return
    yield phaseChanges.edges.map(({ node }) => node)
    after = phaseChanges.pageInfo.hasNextPage ? phaseChanges.pageInfo.endCursor : null
  } while (after !== null)
}

const END = gql('query End { log { head endCursor } }')

/** The end of the log. */
export async function readEnd({ client, io }: Session): Promise<{ readonly head: number; readonly endCursor: string }> {
  const { log } = await client.query(END, {}, { signal: io.signal })
  return log
}
