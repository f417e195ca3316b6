import { gql } from '../../documents/gql.ts'
import type { NodeOf, ResultOf, VariablesOf } from '../../documents/typed-document.ts'
import type { Session } from '../session.ts'
import { printLine } from '../terminal/io.ts'
import { formatLogLine } from './object-logs.ts'

const LINE = 'cursor lineCursor objectId at stream text object { name path project { name } }'
const NEWEST = gql(`query NewestOutput($filter: LogLineFilter, $last: Int!, $before: String) {
  logLines(filter: $filter, last: $last, before: $before) {
    pageInfo { hasPreviousPage startCursor } edges { node { ${LINE} } }
  }
}`)
const OLDEST = gql(`query OldestOutput($filter: LogLineFilter, $first: Int!, $after: String) {
  logLines(filter: $filter, first: $first, after: $after) {
    pageInfo { hasNextPage endCursor } edges { node { ${LINE} } }
  }
}`)
const FOLLOW = gql(`subscription FollowOutput($filter: LogLineFilter, $after: String) {
  logLines(filter: $filter, after: $after) { ${LINE} }
}`)
export type OutputFilter = NonNullable<VariablesOf<typeof NEWEST>['filter']>
/** A line of the output of a tree, a project or everything. */
export type FoundLine = NonNullable<NodeOf<ResultOf<typeof NEWEST>['logLines']>>

const PAGE = 500

/** The newest lines that match, oldest first. */
export async function readNewestOutput(
  { client, io }: Session,
  filter: OutputFilter,
  limit: number,
): Promise<readonly FoundLine[]> {
  const lines: FoundLine[] = []
  let before: string | null = null
  while (lines.length < limit) {
    const last = Math.min(PAGE, limit - lines.length)
    const { logLines }: ResultOf<typeof NEWEST> = await client.query(
      NEWEST,
      { filter, last, before },
      { signal: io.signal },
    )
    if (!logLines) break
    lines.unshift(...logLines.edges.map(({ node }) => node))
    before = logLines.pageInfo.startCursor
    if (!logLines.pageInfo.hasPreviousPage || before === null) break
  }
  return lines
}

/** All lines that match, oldest first, page by page: a page may be empty before the last one. */
export async function* readOutput(
  { client, io }: Session,
  filter: OutputFilter,
  start: string | null,
): AsyncGenerator<readonly FoundLine[]> {
  let after = start
  for (;;) {
    const { logLines }: ResultOf<typeof OLDEST> = await client.query(
      OLDEST,
      { filter, first: PAGE, after },
      { signal: io.signal },
    )
    if (!logLines) return
    yield logLines.edges.map(({ node }) => node)
    if (!logLines.pageInfo.hasNextPage) return
    after = logLines.pageInfo.endCursor
  }
}

/** Lines after a place, then what comes; without a place, from now on. The client resumes by itself. */
export async function* followOutput(
  { client, io }: Session,
  filter: OutputFilter,
  start: string | null,
): AsyncGenerator<FoundLine> {
  let after = start
  for await (const { logLines } of client.subscribe(FOLLOW, () => ({ filter, after }), { signal: io.signal })) {
    yield logLines
    after = logLines.cursor
  }
}

/** One object's lines stand alone; others have the path of theirs before them, as `get` finds it. */
export function printFound(session: Session, line: FoundLine, withPath: boolean, timestamps: boolean): void {
  session.emit(line)
  if (session.json) return
  const { at, object } = line
  const time = timestamps ? `${session.paint('dim', at)} ` : ''
  const path = object ? `${object.project.name}/${object.path}` : line.objectId
  const where = withPath ? `${session.paint('dim', `${path} |`)} ` : ''
  printLine(session.io.stdout, `${time}${where}${formatLogLine(line, session.paint)}`)
}
