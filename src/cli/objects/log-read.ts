import type { LogRange, PhaseChange } from '../../client/index.ts'
import { countFurther, type Further, previousCursor, readBack, readOn } from '../../client-model/index.ts'
import { gql } from '../../documents/gql.ts'
import type { VariablesOf } from '../../documents/typed-document.ts'
import type { Session } from '../session.ts'
import { printLine } from '../terminal/io.ts'

const FIELDS = `fragment Logged on PhaseChange {
  sequence cursor objectId kind name path rootId projectName machine from to actor by reason message jobId revision rejected at
}`
const NEWEST = gql(`query Newest($filter: PhaseChangeFilter, $last: Int!, $before: String) {
  phaseChanges(filter: $filter, last: $last, before: $before) {
    pageInfo { hasPreviousPage startCursor } edges { node { ...Logged } }
  }
}\n${FIELDS}`)
const OLDER = gql(`query Older($filter: PhaseChangeFilter, $last: Int!, $before: String) {
  phaseChanges(filter: $filter, last: $last, before: $before) {
    pageInfo { hasPreviousPage startCursor } edges { cursor }
  }
}`)
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
  return await readBack({ limit, most: PAGE }, async (last, before) => {
    const { phaseChanges } = await client.query(NEWEST, { filter, last, before }, { signal: io.signal })
    return phaseChanges
  })
}

const FORWARD_PAGE = 500

/** The phase changes that match before one. */
export async function countOlderChanges({ client, io }: Session, filter: Filter, before: string): Promise<Further> {
  const { phaseChanges } = await client.query(OLDER, { filter, last: FORWARD_PAGE, before }, { signal: io.signal })
  return countFurther(phaseChanges, previousCursor(phaseChanges))
}

/** All phase changes that match, oldest first, page by page. */
export const readForward = ({ client, io }: Session, filter: Filter): AsyncGenerator<readonly LoggedChange[]> =>
  readOn<LoggedChange>(null, async (after) => {
    const variables = { filter, first: FORWARD_PAGE, after }
    const { phaseChanges } = await client.query(OLDEST, variables, { signal: io.signal })
    return phaseChanges
  })

const END = gql('query End { log { head endCursor } }')

/** The end of the log. */
export async function readEnd({ client, io }: Session): Promise<{ readonly head: number; readonly endCursor: string }> {
  const { log } = await client.query(END, {}, { signal: io.signal })
  return log
}

/** Explains where to resume when the log has lost a cursor: at the oldest change, or where its histories diverge. */
export function explainGap(
  session: Session,
  { oldest, head, startCursor, commonCursor }: LogRange,
  reached: number,
): string {
  const isPruned = reached < oldest - 1
  const where = isPruned ? `with ${oldest}` : 'where its histories part'
  const text = `The log holds ${oldest} to ${head}, and not what follows ${reached || 'that place'}: going on ${where}.`
  printLine(session.io.stderr, text)
  return isPruned ? startCursor : commonCursor
}
