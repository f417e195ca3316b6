import type { Command } from 'commander'
import { type AddressOptions, locate, withAddressOptions } from '../address.ts'
import type { Cli } from '../cli.ts'
import { cursorExpired } from '../cursor-expired.ts'
import { EXIT, type ExitCode } from '../exit.ts'
import { printLine } from '../io.ts'
import { type LoggedChange, readHead, readNewest } from '../log-read.ts'
import { printObjectLogs } from '../object-logs.ts'
import { parseCount, parseKinds, parsePhases } from '../options.ts'
import { invalid, type Outcome } from '../refusal.ts'
import { type Session, type SessionOptions, withSession, withSessionOptions } from '../session.ts'
import { describeChange } from '../tree/presenter.ts'

interface LogOptions extends SessionOptions {
  readonly project?: string
  readonly kind: string
  readonly follow?: boolean
  readonly after?: number
  readonly rejected?: boolean
  readonly kinds?: readonly string[]
  readonly to?: readonly string[]
  readonly limit?: number
  readonly output?: boolean
}
type Filter = Readonly<Record<string, unknown>>
interface Stretch {
  readonly after: number
  /** Ends with this sequence; otherwise it goes on as long as the user likes. */
  readonly until?: number
  /** Ends after so many. */
  readonly limit?: number
}

const NEWEST = 50

/** `phaseline log [NAME]`: who moved what, and who tried. */
export function addLog(program: Command, cli: Cli): void {
  withSessionOptions(withAddressOptions(program.command('log')))
    .description('print phase changes, oldest first')
    .argument('[name]', 'id, or path: a root stands for its whole tree; without it, everything')
    .option('-F, --follow', 'go on with what comes')
    .option('--after <sequence>', 'everything after this sequence, instead of the newest', parseCount)
    .option('--rejected', 'refused requests too')
    .option('--kinds <kinds>', 'only objects of these kinds', parseKinds)
    .option('--to <phases>', 'only changes to these phases', parsePhases)
    .option('--output', 'what the object NAME has printed, instead of its phase changes; --follow ends with it')
    .option('--limit <count>', `how many of the newest (default: ${NEWEST}); with --after, at most so many`, parseCount)
    .action(async (name: string | undefined, options: LogOptions) => {
      cli.exitCode = await withSession(cli.io, options, (session) =>
        options.output ? output(session, name, options) : log(session, name, options),
      )
    })
}

async function log(session: Session, name: string | undefined, options: LogOptions): Promise<ExitCode> {
  const filter = await filterOf(session, name, options)
  if (!filter.ok) return session.refuse(filter.refusal)
  const head = await readHead(session)
  const { after, limit, follow } = options
  if (after !== undefined) {
    if (!follow && after > head) printLine(session.io.stderr, `Nothing: the log that you may read ends at ${head}.`)
    const bounds = { ...(follow ? {} : { until: head }), ...(limit === undefined ? {} : { limit }) }
    return await stream(session, filter.value, { after, ...bounds })
  }
  const newest = await readNewest(session, filter.value, limit ?? NEWEST)
  for (const change of newest) print(session, change)
  if (!follow) return EXIT.ok
  return await stream(session, filter.value, { after: newest.at(-1)?.sequence ?? head })
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
  kind,
  ...(project === undefined ? {} : { project }),
})

async function filterOf(session: Session, name: string | undefined, options: LogOptions): Promise<Outcome<Filter>> {
  const { project, kinds, to, rejected } = options
  const common = { ...(kinds ? { kinds } : {}), ...(to ? { to } : {}), includeRejected: rejected === true }
  if (name === undefined) return { ok: true, value: { ...common, ...(project === undefined ? {} : { project }) } }
  const located = await locate(session, name, addressOf(options))
  if (!located.ok) return located
  const { id, root } = located.value
  return { ok: true, value: { ...common, ...(id === root.id ? { rootId: id } : { objectId: id }) } }
}

/** Prints a stretch of the log. What the log holds no more is left out, and the user told so. */
async function stream(session: Session, filter: Filter, stretch: Stretch): Promise<ExitCode> {
  const { until = Number.POSITIVE_INFINITY, limit = Number.POSITIVE_INFINITY } = stretch
  let { after } = stretch
  let left = limit
  while (after < until && left > 0) {
    const stop = new AbortController()
    const signal = AbortSignal.any([session.io.signal, stop.signal])
    try {
      for await (const { changes, through } of session.client.followPhases({ filter, after, signal })) {
        const wanted = changes.filter(({ sequence }) => sequence <= until).slice(0, left)
        for (const change of wanted) print(session, change)
        after = through
        left -= wanted.length
        if (after >= until || left <= 0) return EXIT.ok
      }
      return EXIT.interrupted
    } catch (error) {
      after = goOn(session, error, after)
    } finally {
      stop.abort()
    }
  }
  return EXIT.ok
}

/** Where to go on when a place in the log is lost: with the oldest that is left, or where another log ends. */
function goOn(session: Session, error: unknown, after: number): number {
  const held = cursorExpired(error)
  if (!held) throw error
  const next = after > held.head ? held.head : held.oldest - 1
  const { oldest, head } = held
  printLine(
    session.io.stderr,
    `The log holds ${oldest} to ${head}, and not what follows ${after}: going on after ${next}.`,
  )
  return next
}

function print(session: Session, change: LoggedChange): void {
  session.emit(change)
  if (session.json) return
  const where = `${change.projectName}/${change.name}`
  printLine(
    session.io.stdout,
    `${String(change.sequence).padStart(8)}  ${describeChange(change, where, session.paint)}`,
  )
}
