import { ClientError } from '../../client/client-error.ts'
import { notFoundRefusal, readBack, readOn } from '../../client-model/index.ts'
import { gql } from '../../documents/gql.ts'
import type { ResultOf, VariablesOf } from '../../documents/typed-document.ts'
import type { Session } from '../session.ts'
import { EXIT, type ExitCode } from '../terminal/exit.ts'
import { printLine } from '../terminal/io.ts'
import { notePart } from './note-part.ts'

export interface ObjectLogOptions {
  /**
   * `no` (default): the existing lines. `untilEnd`: follows until the object is finished and its last lines have
   * arrived. `always`: follows until the object is gone, or the user interrupts.
   */
  readonly follow?: 'no' | 'untilEnd' | 'always' | undefined
  /** Only lines after this cursor; a pruned one stands for the oldest line. */
  readonly after?: string | undefined
  /** Limits the existing lines to the newest; followed lines are not counted. */
  readonly newest?: number | undefined
  /** Replaces the default output, `printLogLine`. */
  readonly print?: ((line: ObjectLogLine) => void) | undefined
}

const LINE = 'cursor at stream text'
const PAGE_OF = gql(`query ObjectLogs($id: ID!, $first: Int, $after: String, $last: Int, $before: String) {
  object(id: $id) { logs(first: $first, after: $after, last: $last, before: $before) {
    pageInfo { hasNextPage endCursor hasPreviousPage startCursor } edges { node { ${LINE} } }
  } }
}`)
const COUNT = gql('query ObjectLogCount($id: ID!) { object(id: $id) { logs(first: 0) { totalCount } } }')
const FOLLOW = gql(`subscription FollowObjectLogs($objectId: ID!, $after: String, $untilEnd: Boolean!) {
  logs(objectId: $objectId, after: $after, untilEnd: $untilEnd) { ${LINE} }
}`)
const PAGE = 500

type LogPage = NonNullable<ResultOf<typeof PAGE_OF>['object']>['logs']
/** A line of an object's output. `cursor` is its position, to resume after it; `at` is ISO 8601. */
export type ObjectLogLine = ResultOf<typeof FOLLOW>['logs']

/**
 * Prints an object's output, oldest first: each line once, across reconnects. With `--json` as NDJSON. Returns `ok` at
 * the end, `interrupted` by the user, and `refused` when there is no such object.
 * @throws ClientError when the server does not answer
 */
export async function printObjectLogs(
  session: Session,
  objectId: string,
  { follow = 'no', after, newest, print = (line) => printLogLine(session, line) }: ObjectLogOptions = {},
): Promise<ExitCode> {
  let cursor = after
  try {
    if (follow === 'no' || newest !== undefined) {
      const page = (window: Window) => readPage(session, objectId, window)
      const pages =
        newest === undefined
          ? readOn(cursor ?? null, (from) => page({ first: PAGE, after: from }))
          : [await readBack({ limit: newest, most: PAGE }, (last, before) => page({ last, before }))]
      for await (const lines of pages) {
        for (const line of lines) print(line)
        if (newest !== undefined && lines.length > 0) await noteOlder(session, objectId, lines.length)
        cursor = lines.at(-1)?.cursor ?? cursor
      }
      if (follow === 'no') return EXIT.ok
    }
    const place = () => ({ objectId, after: cursor ?? null, untilEnd: follow === 'untilEnd' })
    const lines = session.client.subscribe(FOLLOW, place, { signal: session.io.signal })
    for await (const { logs: line } of lines) {
      print(line)
      cursor = line.cursor
    }
    return session.io.signal.aborted ? EXIT.interrupted : EXIT.ok
  } catch (error) {
    if (!(error instanceof ClientError && error.code === 'NOT_FOUND')) throw error
    // The object was deleted while the connection was lost: an end like any other.
    return cursor === undefined ? session.refuse(notFoundRefusal(`There is no object ${objectId}.`)) : EXIT.ok
  }
}

async function noteOlder(session: Session, id: string, shown: number): Promise<void> {
  const { object } = await session.client.query(COUNT, { id }, { signal: session.io.signal })
  const count = (object?.logs.totalCount ?? 0) - shown
  notePart(session, shown, { count: Math.max(0, count), isAll: true }, 'lines')
}

type Window = Omit<VariablesOf<typeof PAGE_OF>, 'id'>

async function readPage({ client, io }: Session, id: string, window: Window): Promise<LogPage> {
  const { object } = await client.query(PAGE_OF, { id, ...window }, { signal: io.signal })
  if (!object) throw new ClientError('graphql', `There is no object ${id}.`, { code: 'NOT_FOUND' })
  return object.logs
}

/** Prints a line as JSON with `--json`, otherwise by `formatLogLine`. */
export function printLogLine(session: Session, line: ObjectLogLine): void {
  session.emit(line)
  if (!session.json) printLine(session.io.stdout, formatLogLine(line, session.paint))
}

/** The text, with its indentation; steps and lines of the system stand out. */
export function formatLogLine({ stream, text }: ObjectLogLine, paint: Session['paint']): string {
  if (stream === 'STEP') return paint('bold', `» ${text}`)
  return stream === 'SYSTEM' ? paint('dim', `# ${text}`) : text
}
