import { setTimeout as sleep } from 'node:timers/promises'
import { formatLogLine, type ObjectLogLine, printObjectLogs } from '../../../../cli/objects/object-logs.ts'
import { markOf } from '../../../../cli/objects/phases.ts'
import type { Session } from '../../../../cli/session.ts'
import { EXIT, type ExitCode, worst } from '../../../../cli/terminal/exit.ts'
import { printLine } from '../../../../cli/terminal/io.ts'
import { duration } from '../../../../cli/terminal/text.ts'
import { ClientError } from '../../../../client/client-error.ts'
import { blockerText } from '../../../../client-model/index.ts'
import { gql } from '../../../../documents/gql.ts'
import type { ResultOf } from '../../../../documents/typed-document.ts'
import { type BriefEvent, pathOf } from './brief.ts'

const WORKER = gql(`query WorkerOf($id: ID!) { object(id: $id) { ... on Event { worker { id } } } }`)
const END = gql(`query EventEnd($id: ID!) { object(id: $id) {
  phase phaseClass finished error { code message } ... on Event { worker { exitCode signal startedAt endedAt } }
} }`)
type End = NonNullable<ResultOf<typeof END>['object']>
const WAITING = gql(`query EventWaits($id: ID!) { object(id: $id) {
  phase ... on Event { worker { blockedBy(first: 3) { reason message } } }
} }`)

/** A stream that ends before its event is opened again: its server was shutting down. */
const AGAIN_MS = 500
const WAITING_MS = 2_000
const NOT_STARTED = ['PENDING', 'STARTING']

/**
 * Prints the output of the workers until all events have ended, and their results: ok when all succeeded. With `--json`
 * lines of the types `log` and `result`.
 */
export async function followEvents(session: Session, events: readonly BriefEvent[]): Promise<ExitCode> {
  const codes = await Promise.all(events.map((event) => followEvent(session, event, events.length > 1)))
  return worst([EXIT.ok, ...codes])
}

async function followEvent(session: Session, event: BriefEvent, several: boolean): Promise<ExitCode> {
  const ended = new AbortController()
  const waiting = printBlockers(session, event, AbortSignal.any([session.io.signal, ended.signal]))
  try {
    const end = await printUntilEnd(session, event, several)
    if (end === 'interrupted') return EXIT.interrupted
    return report(session, event, end)
  } finally {
    ended.abort()
    await waiting
  }
}

/** Null when the event is gone. */
async function printUntilEnd(
  session: Session,
  event: BriefEvent,
  several: boolean,
): Promise<End | null | 'interrupted'> {
  const { client, io } = session
  const { object } = await client.query(WORKER, { id: event.id }, { signal: io.signal })
  if (!object?.worker) return null
  let after: string | undefined
  const print = (line: ObjectLogLine): void => {
    after = line.cursor
    printFrom(session, event, line, several)
  }
  for (;;) {
    const code = await printObjectLogs(session, object.worker.id, { follow: 'untilEnd', after, print })
    if (code !== EXIT.ok) return code === EXIT.interrupted ? 'interrupted' : null
    const read = await client.query(END, { id: event.id }, { signal: io.signal })
    if (!read.object || read.object.finished) return read.object
    await sleep(AGAIN_MS, undefined, { signal: io.signal })
  }
}

function printFrom(session: Session, event: BriefEvent, line: ObjectLogLine, several: boolean): void {
  session.emit({ type: 'log', eventId: event.id, ...line })
  const from = several ? `${session.paint('dim', `${pathOf(event)} |`)} ` : ''
  session.say(`${from}${formatLogLine(line, session.paint)}`)
}

function report(session: Session, event: BriefEvent, end: End | null): ExitCode {
  const { phase = 'GONE', phaseClass = 'ACTIVE', error = null, worker } = end ?? {}
  const { exitCode = null, signal = null, startedAt, endedAt } = worker ?? {}
  const { id: eventId, name, project } = event
  session.emit({ type: 'result', eventId, name, project, phase, exitCode, signal, error })
  const { symbol, style } = markOf(phaseClass)
  const took = startedAt && endedAt ? ` after ${duration(Date.parse(endedAt) - Date.parse(startedAt))}` : ''
  const why = error ? `: ${error.code}: ${error.message}` : ''
  session.say(session.paint(style, `${symbol} ${pathOf(event)} ${phase}${took}${why}`))
  return phase === 'SUCCEEDED' ? EXIT.ok : EXIT.failed
}

/** Prints why a PENDING event waits to standard error, each reason once. A hint only, so it never fails. */
async function printBlockers(session: Session, event: BriefEvent, signal: AbortSignal): Promise<void> {
  let printed = ''
  try {
    for (let phase: string = event.phase; NOT_STARTED.includes(phase); ) {
      await sleep(WAITING_MS, undefined, { signal })
      const { object } = await session.client.query(WAITING, { id: event.id }, { signal })
      phase = object?.phase ?? 'GONE'
      const blockers = object?.worker?.blockedBy ?? []
      const said = blockers.map(({ message }) => message).join('; ')
      if (said === '' || said === printed) continue
      printed = said
      const text = blockers.map((blocker) => blockerText(blocker, Date.now())).join('; ')
      const isAtGate = blockers.some(({ reason }) => reason === 'DECISION' || reason === 'GATE')
      printLine(session.io.stderr, `○ ${pathOf(event)}${isAtGate ? ':' : ' waits for'} ${text}`)
    }
  } catch (error) {
    // The loop that prints the output meets the same error, and reports it if it persists.
    if (!signal.aborted && !(error instanceof ClientError)) throw error
  }
}
