import { type Command, InvalidArgumentError } from 'commander'
import { invalid, type Outcome } from '../../client-model/index.ts'
import type { Cli } from '../cli.ts'
import { type AddressOptions, locate, withAddressOptions } from '../objects/address.ts'
import { checkProject } from '../objects/check-words.ts'
import { notePart } from '../objects/note-part.ts'
import {
  countOlderOutput,
  type FoundLine,
  followOutput,
  type OutputFilter,
  printFound,
  readNewestOutput,
  readOutput,
} from '../objects/output-read.ts'
import { ALL_PROJECTS, parseCount, parseTime, withFollow } from '../options.ts'
import { type Session, type SessionOptions, withSession, withSessionOptions } from '../session.ts'
import { EXIT, type ExitCode } from '../terminal/exit.ts'
import { printLine } from '../terminal/io.ts'

interface LogsOptions extends SessionOptions, AddressOptions {
  readonly search?: string
  readonly since?: string
  readonly until?: string
  readonly stream?: OutputFilter['streams']
  readonly follow?: boolean
  readonly after?: string
  readonly limit?: number
  readonly timestamps?: boolean
}

const NEWEST = 100
const STREAMS = ['STDOUT', 'STDERR', 'STEP', 'SYSTEM'] as const

/** `phaseline logs [PATH]`: what the work has printed. */
export function addLogs(command: Command, cli: Cli): void {
  withFollow(withSessionOptions(withAddressOptions(command)), 'print what comes, too')
    .argument('[path]', 'id, or path: a root stands for its whole tree; without it, all of the project, or everything')
    .addOption(ALL_PROJECTS)
    .option('--search <words>', 'only lines with all these words')
    .option('--since <time>', 'all since this time, or for so long, e.g. 24h, instead of the newest', parseTime)
    .option('--until <time>', 'only lines before this time, or so long ago, e.g. 2h', parseTime)
    .option('--stream <streams>', 'only lines of these: stdout, stderr, step, system', parseStreams)
    .option('--after <cursor>', 'all after this line, by the cursor that --json prints', parseCursor)
    .option('--limit <count>', `how many of the newest (default: ${NEWEST}, with --since or --after all)`, parseCount)
    .option('-t, --timestamps', 'the time before each line')
    .action(async (path: string | undefined, options: LogsOptions) => {
      cli.exitCode = await withSession(cli.io, options, (session) => logs(session, path, options))
    })
}

const isStream = (word: string): word is (typeof STREAMS)[number] => (STREAMS as readonly string[]).includes(word)
function parseStreams(text: string): (typeof STREAMS)[number][] {
  const words = text.split(',').map((word) => word.trim().toUpperCase())
  if (words.every(isStream)) return words
  throw new InvalidArgumentError('Expected stdout, stderr, step or system, or several with commas.')
}

function parseCursor(text: string): string {
  if (/^\d{1,16}$/.test(text)) return text
  throw new InvalidArgumentError('Expected a cursor as --json prints it.')
}

async function logs(session: Session, path: string | undefined, options: LogsOptions): Promise<ExitCode> {
  const { since, until, after, limit, follow, timestamps = false } = options
  if (follow && until !== undefined) {
    return session.refuse(invalid('--until ends the output, and --follow does not: leave one of them out.'))
  }
  const filter = await filterOf(session, path, options)
  if (!filter.ok) return session.refuse(filter.refusal)
  const print = (line: FoundLine) => printFound(session, line, filter.value.objectId == null, timestamps)
  const all = (after !== undefined || since !== undefined) && limit === undefined
  const last = all
    ? await printAll(session, filter.value, after ?? null, print)
    : await printNewest(session, filter.value, limit ?? NEWEST, print)
  if (!follow) {
    if (last === null && limit !== 0) {
      const absent = await checkProject(session, options.project)
      if (absent) return session.refuse(absent)
      printLine(session.io.stderr, 'No output matches.')
    }
    return EXIT.ok
  }
  for await (const line of followOutput(session, filter.value, last ?? after ?? null)) print(line)
  return EXIT.interrupted
}

async function printNewest(
  session: Session,
  filter: OutputFilter,
  limit: number,
  print: (line: FoundLine) => void,
): Promise<string | null> {
  const lines = await readNewestOutput(session, filter, limit)
  for (const line of lines) print(line)
  const [oldest] = lines
  if (oldest) notePart(session, lines.length, await countOlderOutput(session, filter, oldest.cursor), 'lines')
  return lines.at(-1)?.cursor ?? null
}

async function printAll(
  session: Session,
  filter: OutputFilter,
  after: string | null,
  print: (line: FoundLine) => void,
): Promise<string | null> {
  let last: string | null = null
  for await (const lines of readOutput(session, filter, after)) {
    for (const line of lines) print(line)
    last = lines.at(-1)?.cursor ?? last
  }
  return last
}

async function filterOf(
  session: Session,
  path: string | undefined,
  options: LogsOptions,
): Promise<Outcome<OutputFilter>> {
  const { search, since, until, stream, project } = options
  const common = {
    ...(search === undefined ? {} : { search }),
    ...(since === undefined ? {} : { since }),
    ...(until === undefined ? {} : { until }),
    ...(stream ? { streams: stream } : {}),
  }
  if (path === undefined) return { ok: true, value: { ...common, ...(project === undefined ? {} : { project }) } }
  const located = await locate(session, path, options)
  if (!located.ok) return located
  const { id, root } = located.value
  return { ok: true, value: { ...common, ...(id === root.id ? { rootId: id } : { objectId: id }) } }
}
