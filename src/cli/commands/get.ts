import { type Command, Option } from 'commander'
import {
  AUTOMATIC_FRAGMENT,
  MANIFEST_FRAGMENT,
  notFoundRefusal,
  readPages,
  retryOf,
  type ShownAutomatic,
} from '../../client-model/index.ts'
import type { ObjectKind, Phase } from '../../core/vocabulary.ts'
import { gql } from '../../documents/gql.ts'
import type { NodeOf, ResultOf, VariablesOf } from '../../documents/typed-document.ts'
import type { Cli } from '../cli.ts'
import { type AddressOptions, locate } from '../objects/address.ts'
import { checkWords } from '../objects/check-words.ts'
import { ATTEMPTS, describeAttempts } from '../objects/describe-attempts.ts'
import { describeObject, OBJECT_FIELDS } from '../objects/describe-object.ts'
import { type Field, shownValue } from '../objects/fields.ts'
import { listFailed } from '../objects/list-failed.ts'
import { markedPhase } from '../objects/phases.ts'
import { settingFields } from '../objects/setting-fields.ts'
import { type LabelArgument, parseCount, parseKinds, parseLabel, parsePhases } from '../options.ts'
import { type Session, type SessionOptions, withSession, withSessionOptions } from '../session.ts'
import { EXIT, type ExitCode } from '../terminal/exit.ts'
import { duration, words } from '../terminal/text.ts'

interface GetOptions extends SessionOptions {
  readonly project?: string
  readonly kind?: readonly ObjectKind[]
  readonly phase?: readonly Phase[]
  readonly label?: readonly LabelArgument[]
  readonly nameContains?: string
  readonly finished?: boolean
  readonly failed?: boolean
  readonly unfinished?: boolean
  readonly all?: boolean
  readonly roots?: boolean
  readonly limit: number
}

const ONE = gql(`query Get($id: ID!) {
  object(id: $id) {
    __typename ...Full ... on Installation { exports ...Manifest ...Automatic } ... on DeployItem { exports }
    ... on WorkObject { ${ATTEMPTS} }
  }
}\n${OBJECT_FIELDS}\n${MANIFEST_FRAGMENT}\n${AUTOMATIC_FRAGMENT}`)
const LIST = gql(`query List($filter: ObjectFilter, $first: Int!, $after: String) {
  objects(filter: $filter, first: $first, after: $after) {
    totalCount pageInfo { hasNextPage endCursor }
    edges { node {
      id kind name path phase phaseClass phaseSince finished project { name } error { code message } pendingRequests { verb }
    } }
  }
}`)
type Listed = NodeOf<ResultOf<typeof LIST>['objects']>
type Filter = NonNullable<VariablesOf<typeof LIST>['filter']>

/** `phaseline get [NAME]`: one object in full, or a list. */
export function addGet(program: Command, cli: Cli): void {
  withSessionOptions(program.command('get'))
    .description('show one object, or list objects: roots, or of all objects those that an option selects')
    .argument('[name]', 'id, or path such as shop/backend; without it, a list')
    .option('--project <name>', 'project')
    .option('--kind <kinds>', 'kind of the path (INSTALLATION), or kinds to list', parseKinds)
    .option('--phase <phases>', 'list only these phases', parsePhases)
    .option('--label <key=value>', 'list only with this label', parseLabel)
    .option('--name-contains <text>', 'list only names with this in them')
    .addOption(new Option('--finished', 'list only what is finished').conflicts('unfinished'))
    .option('--failed', 'list what failed by itself, each cause once with its error, and what was undone within a day')
    .option('--unfinished', 'list only what is not finished')
    .addOption(new Option('--all', 'list nested objects too').conflicts('roots'))
    .option('--roots', 'list only roots')
    .option('--limit <count>', 'list at most this many', parseCount, 50)
    .action(async (name: string | undefined, options: GetOptions) => {
      cli.exitCode = await withSession(cli.io, options, (session) =>
        name === undefined ? list(session, options) : getOne(session, cli, name, options),
      )
    })
}

async function getOne(
  session: Session,
  { shows }: Cli,
  name: string,
  { project, kind }: GetOptions,
): Promise<ExitCode> {
  const address: AddressOptions = {
    ...(project === undefined ? {} : { project }),
    ...(kind?.[0] ? { kind: kind[0] } : {}),
  }
  const located = await locate(session, name, address)
  if (!located.ok) return session.refuse(located.refusal)
  const show = shows[located.value.kind]
  if (show) return await show(session, located.value)
  const { id } = located.value
  const { object } = await session.client.query(ONE, { id }, { signal: session.io.signal })
  if (!object) return session.refuse(notFoundRefusal(`${name} is gone.`))
  const { __typename, ...shown } = object
  session.emit(shown)
  const exports = Object.entries(object.exports ?? {})
  const exported = exports.map(([key, value]) => ['exports', `${key}: ${shownValue(value)}`] as const)
  const more = [
    ...(__typename === 'Installation' ? [...settingFields(object), ...automaticFields(object.automaticReconcile)] : []),
    ...exported,
    ...describeAttempts(object),
  ]
  session.say(...describeObject(object, Date.now(), session.paint, more))
  return EXIT.ok
}

function automaticFields(automatic: ShownAutomatic | null): readonly Field[] {
  if (!automatic) return []
  const { nextAt, editor, problem } = automatic
  const next = [nextAt, retryOf(automatic)].filter(Boolean).join(', ') || 'after a job has ended'
  return [
    ['next reconcile', `${next}, by itself for ${editor}`],
    ...(problem ? [['passed over', problem] as const] : []),
  ]
}

async function list(session: Session, options: GetOptions): Promise<ExitCode> {
  const wrong = await checkWords(session, { kinds: options.kind, phases: options.phase })
  if (wrong) return session.refuse(wrong)
  const filter = filterOf(options)
  if (options.failed) {
    await listFailed(session, { ...filter, failed: true }, options.limit)
    return EXIT.ok
  }
  const listed = await readPages(options.limit, async (first, after) => {
    const { objects } = await session.client.query(LIST, { filter, first, after }, { signal: session.io.signal })
    return objects
  })
  if (!listed) return session.refuse(notFoundRefusal('There is nothing to list.'))
  session.emit({ totalCount: listed.totalCount, objects: listed.nodes })
  session.list({ head: HEAD, rows: rowsOf(listed.nodes), none: noneOf(options), listed })
  return EXIT.ok
}

function filterOf(options: GetOptions): Filter {
  const { project, kind, phase, label, nameContains, finished, unfinished } = options
  return {
    ...(project === undefined ? {} : { project }),
    ...(kind ? { kinds: kind } : {}),
    ...(phase ? { phases: phase } : {}),
    ...(label ? { labels: label } : {}),
    ...(nameContains === undefined ? {} : { nameContains }),
    ...(finished ? { finished: true } : {}),
    ...(unfinished ? { finished: false } : {}),
    ...(isOfRoots(options) ? { rootsOnly: true } : {}),
  }
}

/** A kind, a phase, a part of a name or a failure selects objects wherever they are. */
const isOfRoots = ({ roots, all, kind, phase, nameContains, failed }: GetOptions): boolean =>
  roots ?? !(all || kind || phase || nameContains !== undefined || failed)

const noneOf = (options: GetOptions): string =>
  isOfRoots(options) ? 'Nothing matches among roots: --all lists nested objects too.' : 'Nothing matches.'

const HEAD = ['PROJECT', 'NAME', 'KIND', 'PHASE', 'SINCE', 'ID', 'ERROR', 'PENDING']

const rowsOf = (nodes: readonly Listed[]): string[][] =>
  nodes.map(({ project, path, kind, phase, phaseClass, phaseSince, error, id, pendingRequests }) => [
    project.name,
    path,
    words(kind),
    markedPhase({ phase, phaseClass }),
    duration(Date.now() - Date.parse(phaseSince)),
    id,
    error?.code ?? '',
    pendingRequests.map(({ verb }) => verb).join(', '),
  ])
