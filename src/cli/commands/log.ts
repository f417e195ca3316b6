import type { Command } from 'commander'
import type { LogRange } from '../../client/index.ts'
import { invalid, type Machines, type Outcome, refused } from '../../client-model/index.ts'
import type { Actor, ObjectKind, Phase } from '../../core/vocabulary.ts'
import type { Cli } from '../cli.ts'
import { type AddressOptions, locate, withAddressOptions } from '../objects/address.ts'
import { checkProject, checkWords } from '../objects/check-words.ts'
import {
  countOlderChanges,
  explainGap,
  type Filter,
  type LoggedChange,
  readEnd,
  readForward,
  readNewest,
} from '../objects/log-read.ts'
import { readMachines } from '../objects/machines.ts'
import { notePart } from '../objects/note-part.ts'
import { printObjectLogs } from '../objects/object-logs.ts'
import {
  ALL_PROJECTS,
  parseActors,
  parseCount,
  parseKinds,
  parsePhases,
  parsePlace,
  parseTime,
  withFollow,
} from '../options.ts'
import { type Session, type SessionOptions, withSession, withSessionOptions } from '../session.ts'
import { EXIT, type ExitCode } from '../terminal/exit.ts'
import { printLine } from '../terminal/io.ts'
import { describeChange } from '../tree/presenter.ts'

interface LogOptions extends SessionOptions {
  readonly project?: string
  readonly kind?: ObjectKind
  readonly follow?: boolean
  readonly after?: string | number
  readonly rejected?: boolean
  readonly kinds?: readonly ObjectKind[]
  readonly to?: readonly Phase[]
  readonly actors?: readonly Actor[]
  readonly since?: string
  readonly until?: string
  readonly search?: string
  readonly limit?: number
  readonly output?: boolean
}
interface Stretch {
  /** A cursor, or a sequence. */
  readonly after: string | number
  /** The last sequence to print; without it, the log is followed until the user interrupts. */
  readonly until?: number
  /** The most changes to print. */
  readonly limit?: number
}

const NEWEST = 50

/** `phaseline log [NAME]`: phase changes and refused ones, with their actors. */
export function addLog(command: Command, cli: Cli): void {
  withFollow(withSessionOptions(withAddressOptions(command)), 'print what comes, too')
    .argument(
      '[name]',
      'id, or path: a root stands for its whole tree; without it, everything (--kind is then as --kinds)',
    )
    .addOption(ALL_PROJECTS)
    .option('--after <place>', 'everything after this cursor or sequence, instead of the newest', parsePlace)
    .option('--since <time>', 'everything since this time, or for so long, e.g. 24h', parseTime)
    .option('--until <time>', 'only changes before this time, or so long ago, e.g. 2h', parseTime)
    .option('--search <words>', 'only changes with all these words in path, kind, phases, actor, reason or message')
    .option('--rejected', 'refused requests too')
    .option('--kinds <kinds>', 'only objects of these kinds', parseKinds)
    .option('--to <phases>', 'only changes to these phases', parsePhases)
    .option('--actors <actors>', 'only changes by these, e.g. user, agent', parseActors)
    .option('--output', 'what the object NAME has printed, instead of its phase changes; --follow ends with it')
    .option(
      '--limit <count>',
      `how many of the newest (default: ${NEWEST}, with --since all); with --after, at most so many`,
      parseCount,
    )
    .action(async (name: string | undefined, options: LogOptions) => {
      cli.exitCode = await withSession(cli.io, options, (session) =>
        options.output ? output(session, name, options) : log(session, name, options),
      )
    })
}

async function log(session: Session, name: string | undefined, options: LogOptions): Promise<ExitCode> {
  if (options.follow && options.until !== undefined) {
    return session.refuse(invalid('--until ends the log, and --follow does not: leave one of them out.'))
  }
  const filter = await filterOf(session, name, options)
  if (!filter.ok) return session.refuse(filter.refusal)
  const [end, machines] = await Promise.all([readEnd(session), readMachines(session.client, session.io.signal)])
  const printer: Printer = (change) => print(session, change, machines)
  const { after, limit, follow, since } = options
  if (after !== undefined) {
    if (!follow && typeof after === 'number' && after > end.head)
      printLine(session.io.stderr, `Nothing: the log ends at ${end.head}.`)
    const bounds = { ...(follow ? {} : { until: end.head }), ...(limit === undefined ? {} : { limit }) }
    return await stream(session, filter.value, { after, ...bounds }, printer)
  }
  const last =
    since !== undefined && limit === undefined
      ? await printAll(session, filter.value, printer)
      : await printNewest(session, filter.value, limit ?? NEWEST, printer)
  if (follow) return await stream(session, filter.value, { after: last?.cursor ?? end.endCursor }, printer)
  if (!last && limit !== 0) {
    const absent = await checkProject(session, options.project)
    if (absent) return session.refuse(absent)
    printLine(session.io.stderr, 'Nothing in the log matches.')
  }
  return EXIT.ok
}

type Printer = (change: LoggedChange) => void

async function printNewest(
  session: Session,
  filter: Filter,
  limit: number,
  printer: Printer,
): Promise<LoggedChange | undefined> {
  const newest = await readNewest(session, filter, limit)
  for (const change of newest) printer(change)
  const [oldest] = newest
  if (oldest?.cursor !== undefined)
    notePart(session, newest.length, await countOlderChanges(session, filter, oldest.cursor), 'phase changes')
  return newest.at(-1)
}

/** Prints while it reads: a day of the log may be long. */
async function printAll(session: Session, filter: Filter, printer: Printer): Promise<LoggedChange | undefined> {
  let last: LoggedChange | undefined
  for await (const changes of readForward(session, filter)) {
    for (const change of changes) printer(change)
    last = changes.at(-1) ?? last
  }
  return last
}

async function output(session: Session, name: string | undefined, options: LogOptions): Promise<ExitCode> {
  if (name === undefined) return session.refuse(invalid('--output needs the NAME of one object.'))
  const located = await locate(session, name, addressOf(options))
  if (!located.ok) return session.refuse(located.refusal)
  const { after, limit, follow } = options
  return await printObjectLogs(session, located.value.id, {
    follow: follow ? 'untilEnd' : 'no',
    ...(after === undefined ? { newest: limit } : { after: String(after) }),
  })
}

const addressOf = ({ project, kind }: LogOptions): AddressOptions => ({
  ...(kind === undefined ? {} : { kind }),
  ...(project === undefined ? {} : { project }),
})

async function filterOf(session: Session, name: string | undefined, options: LogOptions): Promise<Outcome<Filter>> {
  const { project, kind, to, actors, since, until, search, rejected } = options
  const kinds = name === undefined && kind !== undefined ? [...(options.kinds ?? []), kind] : options.kinds
  const wrong = await checkWords(session, { kinds, phases: to, actors })
  if (wrong) return refused(wrong)
  const common = {
    ...(kinds ? { kinds } : {}),
    ...(to ? { to } : {}),
    ...(actors ? { actors } : {}),
    ...(since === undefined ? {} : { since }),
    ...(until === undefined ? {} : { until }),
    ...(search === undefined ? {} : { search }),
    includeRejected: rejected === true,
  }
  if (name === undefined) return { ok: true, value: { ...common, ...(project === undefined ? {} : { project }) } }
  const located = await locate(session, name, addressOf(options))
  if (!located.ok) return located
  const { id, root } = located.value
  return { ok: true, value: { ...common, ...(id === root.id ? { rootId: id } : { objectId: id }) } }
}

/** Prints a part of the log. Pruned changes are skipped, and a note says so. */
async function stream(session: Session, filter: Filter, stretch: Stretch, printer: Printer): Promise<ExitCode> {
  const { after, until = Number.POSITIVE_INFINITY, limit = Number.POSITIVE_INFINITY } = stretch
  if (limit <= 0 || (typeof after === 'number' && after >= until)) return EXIT.ok
  let left = limit
  let reached = typeof after === 'number' ? after : 0
  const { signal } = session.io
  const onExpired = (log: LogRange): string => explainGap(session, log, reached)
  for await (const { changes, through } of session.client.followPhases({
    filter,
    after,
    signal,
    onExpired,
    cursors: session.json,
  })) {
    const wanted = changes.filter(({ sequence }) => sequence <= until).slice(0, left)
    for (const change of wanted) printer(change)
    reached = through
    left -= wanted.length
    if (reached >= until || left <= 0) return EXIT.ok
  }
  return EXIT.interrupted
}

function print(session: Session, change: LoggedChange, machines: Machines): void {
  session.emit(change)
  if (session.json) return
  const where = `${change.projectName}/${change.path}`
  printLine(
    session.io.stdout,
    `${String(change.sequence).padStart(8)}  ${describeChange(change, where, { paint: session.paint, machines })}`,
  )
}
