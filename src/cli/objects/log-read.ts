import type { PhaseChange } from '../../client/index.ts'
import { gql } from '../../documents/gql.ts'
import type { ResultOf, VariablesOf } from '../../documents/typed-document.ts'
import type { Session } from '../session.ts'

const NEWEST = gql(`query Newest($filter: PhaseChangeFilter, $last: Int!, $before: String) {
  phaseChanges(filter: $filter, last: $last, before: $before) {
    pageInfo { hasPreviousPage startCursor }
    edges { node {
      sequence cursor objectId kind name rootId projectName machine from to actor by reason message jobId revision rejected at
    } }
  }
}`)
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

const END = gql('query End { log { head endCursor } }')

/** The end of the log. */
export async function readEnd({ client, io }: Session): Promise<{ readonly head: number; readonly endCursor: string }> {
  const { log } = await client.query(END, {}, { signal: io.signal })
  return log
}
