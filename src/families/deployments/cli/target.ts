import { readFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { type Command, Option } from 'commander'
import type { Cli } from '../../../cli/cli.ts'
import { addList, type ListOptions } from '../../../cli/list.ts'
import { describeFields } from '../../../cli/objects/fields.ts'
import { type RecordName, recordGroup, reportDone } from '../../../cli/objects/record-commands.ts'
import { ALL_PROJECTS, LABELS, type LabelArgument, option, parseFile, parseLabel } from '../../../cli/options.ts'
import type { Session, SessionOptions } from '../../../cli/session.ts'
import { ask } from '../../../cli/terminal/ask.ts'
import { EXIT, type ExitCode } from '../../../cli/terminal/exit.ts'
import { readExactly } from '../../../cli/terminal/read-input.ts'
import { since } from '../../../cli/terminal/text.ts'
import { invalid, type Outcome, REFUSAL_FRAGMENT, refused } from '../../../client-model/index.ts'
import { KUBERNETES_TARGET } from '../../../core/target.ts'
import { gql } from '../../../documents/gql.ts'
import type { ResultOf } from '../../../documents/typed-document.ts'
import { flattenKubeconfig } from '../../../manifest/index.ts'

interface TargetOptions extends SessionOptions {
  readonly project: string
}
interface SettingOptions extends TargetOptions {
  readonly label?: readonly LabelArgument[]
  readonly description?: string
}
interface SetOptions extends SettingOptions {
  readonly type?: string
  /** The file; true: the default of the option; false: none. */
  readonly credentials?: string | false
}
interface ImportOptions extends SettingOptions {
  readonly kubeconfig: string
  readonly context?: string
}
interface TargetListOptions extends TargetOptions, ListOptions {
  readonly allProjects?: boolean
  readonly type?: string
  readonly label?: readonly LabelArgument[]
}

const SET = gql(`mutation SetTarget($input: SetTargetInput!) {
  answer: setTarget(input: $input) { __typename ... on Target { name type generation hasCredentials } ...Refusal }
}\n${REFUSAL_FRAGMENT}`)
const DELETE = gql(`mutation DeleteTarget($input: DeleteTargetInput!) {
  answer: deleteTarget(input: $input) { __typename ... on DeletedTarget { name } ...Refusal }
}\n${REFUSAL_FRAGMENT}`)
const LIST = gql(`query ListTargets($filter: TargetFilter!, $first: Int!, $after: String) {
  targets(filter: $filter, first: $first, after: $after) {
    totalCount pageInfo { hasNextPage endCursor }
    edges { node { project { name } name type description hasCredentials generation updatedAt labels { key value } servingAgents(first: 0) { totalCount } uses(first: 0) { totalCount } } }
  }
}`)
const GET = gql(`query GetTarget($project: String!, $name: String!) {
  target(project: $project, name: $name) {
    id name type description hasCredentials generation createdAt updatedAt labels { key value }
    servingAgents(first: 20) { totalCount edges { node { name instance } } }
    uses(first: 20) { totalCount edges { node { itemCount root { id name } } } }
  }
}`)

/** `phaseline target set|import|list|get|delete`: where deploy items go, with the credentials that deployers need there. */
export function addTarget(group: Command, cli: Cli): void {
  const { run, onRecord, onDelete } = recordGroup(group, cli, { noun: 'target', find })
  const command = <Options extends TargetOptions>(
    name: string,
    body: (session: Session, options: Options, argument: string) => Promise<ExitCode>,
  ): Command => run<Options>(group.command(name), body).option('--project <name>', 'project', 'default')
  const settings = (of: Command): Command =>
    of
      .argument('<name>', 'name, which deploy items give as their target')
      .option(
        '--label <key=value>',
        'label that selectors may require; repeated, they replace those it has',
        parseLabel,
      )
      .option('--description <text>', 'a sentence for people')
  settings(command<SetOptions>('set', setTarget))
    .description('create a target, or change what is given of one')
    .option('--type <type>', 'what it is, e.g. kubernetes; a new target needs one')
    .option('--credentials <file>', 'read its credentials from a file, - for standard input', parseFile)
    .addOption(new Option('--no-credentials', 'take its credentials away'))
  settings(command<ImportOptions>('import', importTarget))
    .description('create a target of a cluster from a context of a kubeconfig, or replace its credentials')
    .requiredOption(
      '--kubeconfig <file>',
      'kubeconfig, - for standard input; files that it names are taken in',
      parseFile,
    )
    .option('--context <name>', 'context (otherwise the current one)')
  addTargetList(group.command('list'), cli).description('list targets of a project')
  onRecord('get', show).description('show a target and the installations that use it')
  onDelete('its credentials', async (session, _, { project, name }) =>
    report(session, await ask(session, DELETE, { project, name }), { project, name, done: 'deleted' }),
  ).description('delete a target with its credentials, once no deploy items are there')
}

async function setTarget(session: Session, options: SetOptions, name: string): Promise<ExitCode> {
  const { type, credentials } = options
  if (credentials === undefined || credentials === false) {
    const given = credentials === false ? { credentials: null } : {}
    return await send(session, name, options, { ...(type === undefined ? {} : { type }), ...given })
  }
  const read = await readExactly(credentials, session.io.stdin)
  if (!read.ok) return session.refuse(invalid(read.message))
  return await send(session, name, options, { ...(type === undefined ? {} : { type }), credentials: read.text })
}

async function importTarget(session: Session, options: ImportOptions, name: string): Promise<ExitCode> {
  const flat = await readKubeconfig(session, options)
  if (!flat.ok) return session.refuse(flat.refusal)
  return await send(session, name, options, { type: KUBERNETES_TARGET, credentials: flat.value })
}

async function readKubeconfig({ io }: Session, { kubeconfig, context }: ImportOptions): Promise<Outcome<string>> {
  const read = await readExactly(kubeconfig, io.stdin)
  if (!read.ok) return refused(invalid(read.message))
  // As kubectl takes them: relative to the kubeconfig.
  const folder = kubeconfig === '-' ? '.' : dirname(kubeconfig)
  const flat = await flattenKubeconfig(read.text, context, (path) => readFile(resolve(folder, path)).catch(() => null))
  if (flat.ok) return flat
  const shown = kubeconfig === '-' ? 'Standard input' : kubeconfig
  return refused(invalid(`${shown}: ${flat.problems.join('; ')}.`))
}

interface Change {
  readonly type?: string
  readonly credentials?: string | null
}
async function send(
  session: Session,
  name: string,
  { project, label, description }: SettingOptions,
  change: Change,
): Promise<ExitCode> {
  const settings = { ...(label && { labels: [...label] }), ...(description !== undefined && { description }) }
  const outcome = await ask(session, SET, { project, name, ...settings, ...change })
  return report(session, outcome, { project, name, done: 'set' })
}

type Did = RecordName & { readonly done: string }
const report = (session: Session, outcome: Outcome<object>, did: Did): ExitCode =>
  reportDone(session, outcome, `${did.project}/${did.name} ${did.done}`, did)

const shownLabels = (labels: readonly LabelArgument[]): string =>
  labels.map(({ key, value }) => `${key}=${value}`).join(', ')

const addTargetList = (command: Command, cli: Cli): Command =>
  addList(command, cli, {
    options: [
      option('--project <name>', 'only of this project').default('default'),
      ALL_PROJECTS,
      option('--type <type>', 'only of this type'),
      LABELS,
    ],
    document: LIST,
    select: ({ project, allProjects, type, label }: TargetListOptions) => ({
      filter: { project: allProjects ? null : project, type: type ?? null, labels: label ?? null },
    }),
    page: ({ targets }) => targets,
    key: 'targets',
    columns: {
      PROJECT: ({ project }) => project.name,
      NAME: ({ name }) => name,
      TYPE: ({ type }) => type,
      LABELS: ({ labels }) => shownLabels(labels),
      CREDENTIALS: ({ hasCredentials }) => (hasCredentials ? 'sealed' : 'none'),
      AGENTS: ({ servingAgents }) => servingAgents?.totalCount ?? 0,
      INSTALLATIONS: ({ uses }) => uses?.totalCount ?? 0,
      SINCE: ({ updatedAt }) => since(updatedAt),
    },
    none: 'There is no target.',
  })

type Found = NonNullable<ResultOf<typeof GET>['target']>
async function find({ client, io }: Session, wanted: RecordName): Promise<Found | null> {
  return (await client.query(GET, { ...wanted }, { signal: io.signal })).target
}

async function show(session: Session, target: Found, { project }: RecordName): Promise<ExitCode> {
  const { servingAgents, uses, ...shown } = target
  const serving = servingAgents?.edges.map(({ node }) => `${node.name} ${node.instance}`) ?? []
  const roots = uses?.edges.map(({ node }) => `${node.root?.name ?? '?'} (${node.itemCount})`) ?? []
  const more = (uses?.totalCount ?? 0) - roots.length
  session.emit({ project, ...target })
  session.say(
    ...describeFields(
      [
        ['name', session.paint('bold', shown.name)],
        ['id', shown.id],
        ['type', shown.type],
        ['labels', shownLabels(shown.labels)],
        ['description', shown.description],
        ['credentials', shown.hasCredentials ? 'sealed: only deployers that claim items there get them' : 'none'],
        ['generation', String(shown.generation)],
        ['served by', serving.join(', ') || 'no connected agent that names or selects it'],
        ['used by', [...roots, ...(more > 0 ? [`… and ${more} more`] : [])].join(', ')],
        ['created', `${shown.createdAt} (${since(shown.createdAt)} ago)`],
        ['updated', `${shown.updatedAt} (${since(shown.updatedAt)} ago)`],
      ],
      session.paint,
    ),
  )
  return EXIT.ok
}
