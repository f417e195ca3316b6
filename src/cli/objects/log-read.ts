import type { Session } from '../session.ts'
import type { ToldChange } from '../tree/presenter.ts'

/** A phase change as the log has it. */
export interface LoggedChange extends ToldChange {
  /** Where it was asked for. */
  readonly cursor?: string
  readonly projectName: string
}

const NEWEST = `query Newest($filter: PhaseChangeFilter, $last: Int!, $before: String) {
  phaseChanges(filter: $filter, last: $last, before: $before) {
    pageInfo { hasPreviousPage startCursor }
    edges { node {
      sequence cursor objectId kind name rootId projectName machine from to actor by reason message jobId revision rejected at
    } }
  }
}`
const PAGE = 100

interface Page {
  readonly phaseChanges: {
    readonly pageInfo: { readonly hasPreviousPage: boolean; readonly startCursor: string | null }
    readonly edges: readonly { readonly node: LoggedChange }[]
  }
}

/** The newest phase changes that match, oldest first. */
export async function readNewest(
  { client, io }: Session,
  filter: Readonly<Record<string, unknown>>,
  limit: number,
): Promise<readonly LoggedChange[]> {
  const changes: LoggedChange[] = []
  let before: string | null = null
  while (changes.length < limit) {
    const last = Math.min(PAGE, limit - changes.length)
    const { phaseChanges }: Page = await client.query<Page>(NEWEST, { filter, last, before }, { signal: io.signal })
    changes.unshift(...phaseChanges.edges.map(({ node }) => node))
    before = phaseChanges.pageInfo.startCursor
    if (!phaseChanges.pageInfo.hasPreviousPage || before === null) break
  }
  return changes
}

const END = 'query End { log { head endCursor } }'

/** Where the log ends. */
export async function readEnd({ client, io }: Session): Promise<{ readonly head: number; readonly endCursor: string }> {
  const { log } = await client.query<{ log: { head: number; endCursor: string } }>(END, {}, { signal: io.signal })
  return log
}
