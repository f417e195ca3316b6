import { type Command, Option } from 'commander'
import { createClient } from '../client/create-client.ts'
import type { Client } from '../client/index.ts'
import type { PagedList, Refusal } from '../client-model/index.ts'
import { type Connection, type ConnectionOptions, DEFAULT_URL, findConnection } from './connection.ts'
import { type ConnectionNotes, connectionNotes } from './connection-notes.ts'
import { printRefusal } from './objects/refusal.ts'
import { EXIT, type ExitCode } from './terminal/exit.ts'
import { type Io, type Output, printJson, printLine, yamlPrinter } from './terminal/io.ts'
import { type Paint, painter, wantsColour } from './terminal/paint.ts'
import { type Columns, rowsOf, tableFor } from './terminal/table.ts'

export interface SessionOptions extends ConnectionOptions {
  readonly json?: boolean
  readonly format?: Format
}

/** A table, with remarks about it. */
interface Table<Node> {
  readonly columns: Columns<Node>
  readonly nodes: readonly Node[]
  /** Rows that are printed already, beneath which these stand. */
  readonly above?: readonly Node[]
  /** Printed instead of the table, but not of names alone. */
  readonly lines?: readonly string[]
  /** Said where there is nothing to print. */
  readonly none?: string
  /** The list of which it may not show everything. */
  readonly listed?: PagedList<unknown> | null
}

const FORMATS = ['json', 'yaml', 'wide', 'name'] as const
export type Format = (typeof FORMATS)[number]

/** The parts that every command with a server uses. */
export interface Session {
  readonly io: Io
  readonly client: Client
  readonly connection: Connection
  /** Loss and return of the connection, which the session prints by itself. */
  readonly notes: Pick<ConnectionNotes, 'listen'>
  /** Documents are printed, JSON or YAML, and nothing for people. */
  readonly json: boolean
  readonly paint: Paint
  /** Prints lines for people; nothing with `--json`. */
  say(...lines: readonly string[]): void
  /** Prints remarks for people to stderr, where no pipe takes them for data; nothing with JSON. */
  note(...lines: readonly string[]): void
  /** Prints a table that fits the terminal; with `-o wide` as wide as it is, with `-o name` its names alone. */
  list<Node>(table: Table<Node>): void
  /** Prints one JSON document, or one line of a stream; nothing without `--json`. */
  emit(value: unknown): void
  /** Prints a refusal in the requested form; returns its exit code. */
  refuse(refusal: Refusal): ExitCode
}

export const withUrlOption = (command: Command): Command =>
  command.option(
    '--url <url>',
    `GraphQL endpoint (otherwise PHASELINE_URL, the current context, the server of the data folder, or ${DEFAULT_URL})`,
  )

/** The options of every command that calls a server. There is none for a token: arguments are visible to all users. */
export const withSessionOptions = (command: Command): Command =>
  withUrlOption(command)
    .option('--token-file <file>', 'file that holds the bearer token (otherwise PHASELINE_TOKEN, or the sign-in)')
    .option('--json', 'print JSON: one document, or one per line for streams')
    .addOption(new Option('-o, --format <format>', 'print json, yaml, wide tables, or names alone').choices(FORMATS))

/** The line below a list that does not show everything. */
function describeRest({ totalCount, isWhole, nodes }: PagedList<unknown>): string[] {
  if (totalCount === null) return isWhole ? [] : ['… and more (--limit)']
  return totalCount > nodes.length ? [`… and ${totalCount - nodes.length} more (--limit)`] : []
}

/** Connects, runs the body, and closes the connection whatever happens. */
export async function withSession(
  io: Io,
  options: SessionOptions,
  body: (session: Session) => Promise<ExitCode>,
): Promise<ExitCode> {
  const { format } = options
  const isYaml = format === 'yaml' && options.json !== true
  const json = options.json === true || format === 'json' || isYaml
  const found = await findConnection(options, io)
  if (!found.ok) {
    if (json) printJson(io.stdout, { error: { code: 'NO_CONNECTION', message: found.message } })
    else printLine(io.stderr, found.message)
    return EXIT.unavailable
  }
  using notes = connectionNotes(io.stderr)
  await using client = createClient({ url: found.url, token: found.token, onConnection: notes.changed })
  const printer = (out: Output, isSilent: boolean) => (lines: readonly string[]) => {
    if (!isSilent) for (const line of lines) printLine(out, line)
  }
  const printDocument = isYaml ? await yamlPrinter(io.stdout) : (value: unknown) => printJson(io.stdout, value)
  const [print, remark] = [printer(io.stdout, json), printer(io.stderr, json && !isYaml)]
  return await body({
    io,
    client,
    connection: found,
    notes,
    json,
    paint: painter(wantsColour(io.stdout, io.env)),
    say: (...lines) => print(lines),
    note: (...lines) => remark(lines),
    list: ({ columns, nodes, above: before, lines, none, listed }) => {
      const shape = { format, columns: io.stdout.isTTY ? io.stdout.columns : undefined }
      const isTable = lines === undefined || format === 'name'
      // A list of names has no head, and nothing to align.
      const above = format === 'name' ? undefined : before
      const rows = rowsOf(columns, [...(above ?? []), ...nodes])
      const whole = isTable && nodes.length > 0 ? tableFor(Object.keys(columns), rows, shape) : []
      const table = above ? whole.slice(above.length + 1) : whole
      const printed = isTable ? table : lines
      if (printed.length > 0) print(printed)
      else if (none !== undefined) remark([none])
      if (listed) remark(describeRest(listed))
    },
    emit: (value) => {
      if (json) printDocument(value)
    },
    refuse: (refusal) => printRefusal(refusal, json, io.stdout, io.stderr),
  })
}
