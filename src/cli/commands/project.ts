import { type Command, Option } from 'commander'
import { notFoundRefusal, type Outcome, REFUSAL_FRAGMENT } from '../../client-model/index.ts'
import { gql } from '../../documents/gql.ts'
import type { Cli } from '../cli.ts'
import { withCompletion } from '../completed.ts'
import { addList } from '../list.ts'
import { addApplyOf } from '../manifests/apply-documents.ts'
import { exportShown } from '../manifests/export-documents.ts'
import { parseCount, withYes } from '../options.ts'
import { readProject, type ShownProject } from '../projects/api.ts'
import { CREATE_PROJECT, projects } from '../projects/apply.ts'
import { describeLimits, describeProject } from '../projects/describe.ts'
import { type Session, type SessionOptions, withSession, withSessionOptions } from '../session.ts'
import { ask } from '../terminal/ask.ts'
import { EXIT, type ExitCode } from '../terminal/exit.ts'
import { type Confirmable, onceConfirmed } from '../terminal/terminal-input.ts'
import { since } from '../terminal/text.ts'

interface CreateOptions extends SessionOptions {
  readonly maxWorkers?: number
  readonly maxJobs?: number
  readonly strategy?: string
}

const LIST = gql(`query ListProjects($first: Int!, $after: String) {
  projects(first: $first, after: $after) {
    totalCount pageInfo { hasNextPage endCursor }
    edges { node {
      name createdAt workerTemplate { runtime } subscriptions { source } limits { maxWorkers maxJobs strategy }
      secrets { name }
    } }
  }
}`)
const DELETE = gql(`mutation DeleteProject($input: DeleteProjectInput!) {
  answer: deleteProject(input: $input) { __typename ... on DeletedProject { name } ...Refusal }
}\n${REFUSAL_FRAGMENT}`)

const STRATEGIES = { queue: 'QUEUE', 'latest-only': 'LATEST_ONLY' } as const

/** `phaseline project list|get|create|apply|delete`. */
export function addProject(project: Command, cli: Cli): void {
  addList(project.command('list'), cli, {
    document: LIST,
    page: (answer) => answer.projects,
    key: 'projects',
    columns: {
      NAME: ({ name }) => name,
      RUNTIME: ({ workerTemplate }) => workerTemplate?.runtime,
      SUBSCRIPTIONS: ({ subscriptions }) => subscriptions.length,
      SECRETS: ({ secrets }) => secrets.length,
      AGE: ({ createdAt }) => since(createdAt),
      LIMITS: ({ limits }) => describeLimits(limits),
    },
    none: 'There is no project that you may read.',
  }).description('list projects')
  onProject(project.command('get'), cli, get).description('show one project')
  onProject(project.command('export'), cli, (session, found) => exportShown(session, projects, found)).description(
    'print the manifest of a project; its secrets are left out',
  )
  withSessionOptions(project.command('create'))
    .description('create a project without a worker; apply gives it one')
    .argument('<name>', 'name of the project')
    .option('--max-workers <count>', 'run at most so many workers at once', parseCount)
    .option('--max-jobs <count>', 'run at most so many jobs at once', parseCount)
    .addOption(new Option('--strategy <strategy>', 'what becomes of events that wait').choices(Object.keys(STRATEGIES)))
    .action(async (name: string, options: CreateOptions) => {
      cli.exitCode = await withSession(cli.io, options, (session) => create(session, name, options))
    })
  addApplyOf(project, cli, projects)
  withYes(withCompletion(withSessionOptions(project.command('delete')), 'project'))
    .description('delete a project that has no objects any more, with its secrets and data')
    .argument('<name>', 'name of the project')
    .action(async (name: string, options: SessionOptions & Confirmable) => {
      cli.exitCode = await withSession(cli.io, options, (session) =>
        onceConfirmed(cli.io, options, `Delete project ${name} with its secrets and data?`, () =>
          remove(session, name),
        ),
      )
    })
}

const onProject = (command: Command, cli: Cli, body: (session: Session, found: ShownProject) => ExitCode): Command =>
  withCompletion(withSessionOptions(command), 'project')
    .argument('<name>', 'name of the project')
    .action(async (name: string, options: SessionOptions) => {
      cli.exitCode = await withSession(cli.io, options, async (session) => {
        const found = await readProject(session, name)
        return found
          ? body(session, found)
          : session.refuse(notFoundRefusal(`There is no project ${name} that you may read.`))
      })
    })

function get(session: Session, project: ShownProject): ExitCode {
  session.emit({ kind: 'PROJECT', ...project })
  session.say(...describeProject(project, Date.now(), session.paint))
  return EXIT.ok
}

async function create(session: Session, name: string, options: CreateOptions): Promise<ExitCode> {
  const { maxWorkers, maxJobs, strategy } = options
  const limits = {
    ...(maxWorkers === undefined ? {} : { maxWorkers }),
    ...(maxJobs === undefined ? {} : { maxJobs }),
    ...(strategy === undefined ? {} : { strategy: STRATEGIES[strategy as keyof typeof STRATEGIES] }),
  }
  return report(session, await ask(session, CREATE_PROJECT, { name, limits }), { name, action: 'created' })
}

async function remove(session: Session, name: string): Promise<ExitCode> {
  return report(session, await ask(session, DELETE, { name }), { name, action: 'deleted' })
}

function report(
  session: Session,
  outcome: Outcome<object>,
  { name, action }: { readonly name: string; readonly action: 'created' | 'deleted' },
): ExitCode {
  if (!outcome.ok) return session.refuse(outcome.refusal)
  session.emit({ kind: 'Project', name, action })
  session.say(`project ${name} ${action}`)
  return EXIT.ok
}
