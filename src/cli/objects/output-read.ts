import { countFurther, type Further, previousCursor, readBack, readOn } from '../../client-model/index.ts'
import { gql } from '../../documents/gql.ts'
import type { NodeOf, ResultOf, VariablesOf } from '../../documents/typed-document.ts'
import type { Session } from '../session.ts'
import { printLine } from '../terminal/io.ts'
import { formatLogLine } from './object-logs.ts'

const LINE = 'cursor lineCursor objectId at stream text object { name path project { name } }'
const NEWEST = gql(`query NewestOutput($filter: OutputFilter, $last: Int!, $before: String) {
  output(filter: $filter, last: $last, before: $before) {
    pageInfo { hasPreviousPage startCursor } edges { node { ${LINE} } }
  }
}`)
const OLDEST = gql(`query OldestOutput($filter: OutputFilter, $first: Int!, $after: String) {
  output(filter: $filter, first: $first, after: $after) {
    pageInfo { hasNextPage endCursor } edges { node { ${LINE} } }
  }
}`)
const OLDER = gql(`query OlderOutput($filter: OutputFilter, $last: Int!, $before: String) {
  output(filter: $filter, last: $last, before: $before) { pageInfo { hasPreviousPage startCursor } edges { cursor } }
}`)
const FOLLOW = gql(`subscription FollowOutput($filter: OutputFilter, $after: String) {
  output(filter: $filter, after: $after) { ${LINE} }
}`)
export type OutputFilter = NonNullable<VariablesOf<typeof NEWEST>['filter']>
/** A line of the output of a tree, a project or everything. */
export type FoundLine = NonNullable<NodeOf<ResultOf<typeof NEWEST>['output']>>

const PAGE = 500

/** The newest lines that match, oldest first. */
export async function readNewestOutput(
  { client, io }: Session,
  filter: OutputFilter,
  limit: number,
): Promise<readonly FoundLine[]> {
  return await readBack({ limit, most: PAGE }, async (last, before) => {
    const { output } = await client.query(NEWEST, { filter, last, before }, { signal: io.signal })
    return output
  })
}

/** The lines that match before one. */
export async function countOlderOutput(
  { client, io }: Session,
  filter: OutputFilter,
  before: string,
): Promise<Further> {
  const { output } = await client.query(OLDER, { filter, last: PAGE, before }, { signal: io.signal })
  return countFurther(output, previousCursor(output))
}

/** All lines that match, oldest first, page by page. */
export const readOutput = (
  { client, io }: Session,
  filter: OutputFilter,
  start: string | null,
): AsyncGenerator<readonly FoundLine[]> =>
  readOn(start, async (after) => {
    const { output } = await client.query(OLDEST, { filter, first: PAGE, after }, { signal: io.signal })
    return output
  })

/** Lines after a place, then what comes; without a place, from now on. The client resumes by itself. */
export async function* followOutput(
  { client, io }: Session,
  filter: OutputFilter,
  start: string | null,
): AsyncGenerator<FoundLine> {
  let after = start
  for await (const { output } of client.subscribe(FOLLOW, () => ({ filter, after }), { signal: io.signal })) {
    yield output
    after = output.cursor
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
