import type { Command } from 'commander'
import type { Cli } from '../../../cli/cli.ts'
import { addList, type ListOptions } from '../../../cli/list.ts'
import { option, parseFile, withYes } from '../../../cli/options.ts'
import { type Session, type SessionOptions, withSession, withSessionOptions } from '../../../cli/session.ts'
import { ask } from '../../../cli/terminal/ask.ts'
import { EXIT, type ExitCode } from '../../../cli/terminal/exit.ts'
import { readInput } from '../../../cli/terminal/read-input.ts'
import { type Confirmable, onceConfirmed } from '../../../cli/terminal/terminal-input.ts'
import { shorten, since } from '../../../cli/terminal/text.ts'
import { invalid, type Outcome, REFUSAL_FRAGMENT, refused } from '../../../client-model/index.ts'
import { gql } from '../../../documents/gql.ts'
import { readJson } from '../../../manifest/index.ts'

interface DataOptions extends SessionOptions {
  readonly project: string
}
interface SetOptions extends DataOptions {
  readonly file?: string
  readonly text?: boolean
}

const SET = gql(`mutation SetData($input: SetDataObjectInput!) {
  answer: setDataObject(input: $input) { __typename ...Refusal }
}\n${REFUSAL_FRAGMENT}`)
const DELETE = gql(`mutation DeleteData($input: DeleteDataObjectInput!) {
  answer: deleteDataObject(input: $input) { __typename ...Refusal }
}\n${REFUSAL_FRAGMENT}`)

const LIST = gql(`query ListData($project: String!, $first: Int!, $after: String) {
  project(name: $project) {
    dataObjects(first: $first, after: $after) {
      totalCount pageInfo { hasNextPage endCursor }
      edges { node { name value updatedAt exporter { id name } } }
    }
  }
}`)
/** Columns of a value in a list; `--json` prints it in full. */
const SHOWN = 60

/** `phaseline data set|delete|list`: data objects of a project, which its installations import. */
export function addData(data: Command, cli: Cli): void {
  withSessionOptions(data.command('set'))
    .description('set data that installations of the project can import')
    .argument('<name>', 'name in the scope')
    .argument('[json]', 'the value as JSON')
    .option('-f, --file <file>', 'read the value from a file, - for standard input', parseFile)
    .option('--text', 'the value is text as it stands, not JSON')
    .option('--project <name>', 'project', 'default')
    .action(async (name: string, json: string | undefined, options: SetOptions) => {
      cli.exitCode = await withSession(cli.io, options, (session) => setData(session, name, json, options))
    })
  withYes(withSessionOptions(data.command('delete')))
    .description('delete data from the scope')
    .argument('<name>', 'name in the scope')
    .option('--project <name>', 'project', 'default')
    .action(async (name: string, options: DataOptions & Confirmable) => {
      cli.exitCode = await withSession(cli.io, options, (session) =>
        onceConfirmed(cli.io, options, `Delete data ${options.project}/${name}?`, () =>
          deleteData(session, name, options),
        ),
      )
    })
  addList(data.command('list'), cli, {
    options: [option('--project <name>', 'project').default('default')],
    document: LIST,
    select: ({ project }: DataOptions & ListOptions) => ({ project }),
    page: ({ project }) => project?.dataObjects,
    key: 'dataObjects',
    scope: ({ project }) => ({ project }),
    columns: {
      NAME: ({ name }) => name,
      FROM: ({ exporter }) => (exporter ? `installation ${exporter.name}` : 'a user'),
      SINCE: ({ updatedAt }) => since(updatedAt),
      VALUE: ({ value }) => shorten(JSON.stringify(value), SHOWN),
    },
    none: 'There is no data.',
    missing: ({ project }) => `There is no project ${project} that you may read.`,
  }).description('list what installations of the project can import')
}

async function setData(
  session: Session,
  name: string,
  json: string | undefined,
  options: SetOptions,
): Promise<ExitCode> {
  const value = await readValue(session, json, options)
  if (!value.ok) return session.refuse(value.refusal)
  const { project } = options
  const outcome = await ask(session, SET, { project, name, value: value.value })
  return report(session, outcome, { project, name, done: 'set' })
}

async function deleteData(session: Session, name: string, { project }: DataOptions): Promise<ExitCode> {
  const outcome = await ask(session, DELETE, { project, name })
  return report(session, outcome, { project, name, done: 'deleted' })
}

async function readValue(
  session: Session,
  json: string | undefined,
  { file, text }: SetOptions,
): Promise<Outcome<unknown>> {
  if ((json === undefined) === (file === undefined)) return refused(invalid('Give the value, or --file.'))
  const input = file === undefined ? ({ ok: true, text: json ?? '' } as const) : await readInput(file, session.io.stdin)
  if (!input.ok) return refused(invalid(input.message))
  if (text) return { ok: true, value: input.text }
  const read = readJson('The value', input.text)
  return read.ok ? read : refused(invalid(`${read.message}; --text takes it as text.`))
}

function report(
  session: Session,
  outcome: Outcome<object>,
  change: { readonly project: string; readonly name: string; readonly done: string },
): ExitCode {
  if (!outcome.ok) return session.refuse(outcome.refusal)
  session.emit(change)
  session.say(`${change.project}/${change.name} ${change.done}`)
  return EXIT.ok
}
