import { notePart } from '../objects/note-part.ts'
import type { Session } from '../session.ts'
import { EXIT, type ExitCode } from '../terminal/exit.ts'
import { printLine } from '../terminal/io.ts'
import type { Style } from '../terminal/paint.ts'
import {
  type AuditEvent,
  type AuditFilter,
  countOlderEvents,
  followEvents,
  newestEvents,
  readPaths,
} from './read-events.ts'

interface Listing {
  readonly filter: AuditFilter
  /** Number of the newest events. */
  readonly limit: number
  readonly follow: boolean
}

/** Prints the newest events, oldest first, and what comes if it is to follow. */
export async function list(session: Session, { filter, limit, follow }: Listing): Promise<ExitCode> {
  const events = await newestEvents(session, filter, limit)
  const paths = session.json ? new Map() : await readPaths(session, events)
  for (const event of events) print(session, event, paths)
  const [oldest] = events
  if (oldest) notePart(session, events.length, await countOlderEvents(session, filter, oldest.cursor), 'events')
  if (!follow) return EXIT.ok
  for await (const event of followEvents(session, filter, events.at(-1)?.cursor)) print(session, event, new Map())
  return session.io.signal.aborted ? EXIT.interrupted : EXIT.ok
}

/** Objects as they are addressed. Most events have an id alone, since a request has named the object by it. */
type Paths = ReadonlyMap<string, string>

function print(session: Session, event: AuditEvent, paths: Paths): void {
  session.emit(event)
  if (!session.json) printLine(session.io.stdout, describe(session, event, paths))
}

const STYLES: Readonly<Record<AuditEvent['outcome'], Style>> = { DONE: 'green', REFUSED: 'yellow', FAILED: 'red' }

function describe({ paint }: Session, event: AuditEvent, paths: Paths): string {
  const { sequence, at, outcome, code, principalName, operation, count, address } = event
  const parts = [
    String(sequence).padStart(8),
    paint('dim', at),
    paint(STYLES[outcome], outcome.padEnd(7)),
    principalName ?? '(no valid token)',
    paint('bold', operation),
    objectOf(event, paths),
    code ?? '',
    count > 1 ? `${count} times` : '',
    paint('dim', address === null ? '' : `from ${address}`),
  ]
  return parts.filter(Boolean).join('  ')
}

function objectOf({ objectKind, objectName, objectId, projectName }: AuditEvent, paths: Paths): string {
  const name = paths.get(objectId ?? '') ?? objectName ?? objectId
  if (name === null) return projectName === null ? '' : projectName
  const where = projectName === null || objectKind === 'PROJECT' ? '' : `${projectName}/`
  return `${objectKind ?? ''} ${where}${name}`.trim()
}
