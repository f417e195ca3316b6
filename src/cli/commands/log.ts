import type { Command } from 'commander'
import { type AddressOptions, locate, withAddressOptions } from '../address.ts'
import type { Cli } from '../cli.ts'
import { EXIT, type ExitCode } from '../exit.ts'
import { printLine } from '../io.ts'
import { type LoggedChange, readHead, readNewest } from '../log-read.ts'
import { parseConstants, parseCount } from '../options.ts'
import type { Outcome } from '../refusal.ts'
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
  readonly limit: number
}
type Filter = Readonly<Record<string, unknown>>

/** `phaseline log [NAME]`: who moved what, and who tried. */
export function addLog(program: Command, cli: Cli): void {
  withSessionOptions(withAddressOptions(program.command('log')))
    .description('print phase changes, oldest first')
    .argument('[name]', 'id, or path: a root stands for its whole tree; without it, everything')
    .option('-F, --follow', 'go on with what comes')
    .option('--after <sequence>', 'everything after this sequence, instead of the newest', parseCount)
    .option('--rejected', 'refused requests too')
    .option('--kinds <kinds>', 'only objects of these kinds', parseConstants)
    .option('--to <phases>', 'only changes to these phases', parseConstants)
    .option('--limit <count>', 'how many of the newest', parseCount, 50)
    .action(async (name: string | undefined, options: LogOptions) => {
      cli.exitCode = await withSession(cli.io, options, (session) => log(session, name, options))
    })
}

async function log(session: Session, name: string | undefined, options: LogOptions): Promise<ExitCode> {
  const filter = await filterOf(session, name, options)
  if (!filter.ok) return session.refuse(filter.refusal)
  const head = await readHead(session)
  if (options.after !== undefined) {
    return await stream(session, filter.value, options.after, options.follow ? undefined : head)
  }
  const newest = await readNewest(session, filter.value, options.limit)
  for (const change of newest) print(session, change)
  if (!options.follow) return EXIT.ok
  return await stream(session, filter.value, newest.at(-1)?.sequence ?? head)
}

async function filterOf(session: Session, name: string | undefined, options: LogOptions): Promise<Outcome<Filter>> {
  const { project, kinds, to, rejected } = options
  const common = { ...(kinds ? { kinds } : {}), ...(to ? { to } : {}), includeRejected: rejected === true }
  if (name === undefined) return { ok: true, value: { ...common, ...(project === undefined ? {} : { project }) } }
  const address: AddressOptions = { kind: options.kind, ...(project === undefined ? {} : { project }) }
  const located = await locate(session, name, address)
  if (!located.ok) return located
  const { id, root } = located.value
  return { ok: true, value: { ...common, ...(id === root.id ? { rootId: id } : { objectId: id }) } }
}

/** Prints what comes after a sequence; without `until` as long as the user likes. */
async function stream(session: Session, filter: Filter, after: number, until?: number): Promise<ExitCode> {
  if (until !== undefined && after >= until) return EXIT.ok
  const { signal } = session.io
  const stop = new AbortController()
  const batches = session.client.followPhases({ filter, after, signal: AbortSignal.any([signal, stop.signal]) })
  try {
    for await (const { changes, through } of batches) {
      for (const change of changes) {
        if (until === undefined || change.sequence <= until) print(session, change)
      }
      if (until !== undefined && through >= until) return EXIT.ok
    }
  } finally {
    stop.abort()
  }
  return EXIT.interrupted
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
