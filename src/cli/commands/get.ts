import type { Command } from 'commander'
import {
  AUTOMATIC_FRAGMENT,
  FORECAST_FRAGMENT,
  forecastText,
  idleWords,
  invalid,
  MANIFEST_FRAGMENT,
  notFoundRefusal,
  retryOf,
  tellTimes,
} from '../../client-model/index.ts'
import { gql } from '../../documents/gql.ts'
import type { NodeOf, ResultOf, VariablesOf } from '../../documents/typed-document.ts'
import type { Cli } from '../cli.ts'
import { withCompletion } from '../completed.ts'
import { addList, type List, printList } from '../list.ts'
import { type AddressOptions, locate } from '../objects/address.ts'
import { ATTEMPTS, describeAttempts } from '../objects/describe-attempts.ts'
import { describeObject, OBJECT_FIELDS } from '../objects/describe-object.ts'
import { type Field, shownValue } from '../objects/fields.ts'
import { listFailed } from '../objects/list-failed.ts'
import { readEnd } from '../objects/log-read.ts'
import { filterOf, LISTED, type ObjectOptions } from '../objects/object-list.ts'
import { markedPhase } from '../objects/phases.ts'
import { ALL_PROJECTS, LABELS, option, parseKinds, parsePhases } from '../options.ts'
import type { Session } from '../session.ts'
import { EXIT, type ExitCode } from '../terminal/exit.ts'
import { duration, since, words } from '../terminal/text.ts'

interface GetOptions extends ObjectOptions {
  readonly nameContains?: string
  readonly finished?: boolean
  readonly failed?: boolean
  readonly unfinished?: boolean
  readonly all?: boolean
  readonly roots?: boolean
  readonly watch?: boolean
}
const OPTIONS = [
  option('--project <name>', 'project of the path (default: "default"), or list only of this project'),
  ALL_PROJECTS,
  option('--kind <kinds>', 'kind of the path (INSTALLATION), or kinds to list', parseKinds),
  option('--phase <phases>', 'list only these phases', parsePhases),
  LABELS,
  option('--name-contains <text>', 'list only names with this in them'),
  option('--finished', 'list only what is finished').conflicts('unfinished'),
  option('--failed', 'list what failed by itself, each cause once with its error, and what was undone within a day'),
  option('--unfinished', 'list only what is not finished'),
  option('--all', 'list nested objects too').conflicts('roots'),
  option('--roots', 'list only roots'),
  option('-w, --watch', 'print each change of what is listed, too, until it is interrupted'),
  option('-f, --follow', 'the same as --watch').implies({ watch: true }).hideHelp(),
]

const ONE = gql(`query Get($id: ID!) {
  object(id: $id) {
    __typename ...Full ...Expected ... on Installation { exports ...Manifest ...Automatic }
    ... on DeployItem { exports type target config attempt each { of key } }
    ... on WorkObject { agent { name instance } ${ATTEMPTS} }
  }
}\n${OBJECT_FIELDS}\n${FORECAST_FRAGMENT}\n${MANIFEST_FRAGMENT}\n${AUTOMATIC_FRAGMENT}`)
const LIST = gql(`query List($filter: ObjectFilter, $first: Int!, $after: String) {
  objects(filter: $filter, first: $first, after: $after) {
    totalCount pageInfo { hasNextPage endCursor }
    edges { node { ${LISTED} } }
  }
}`)

type ListedObject = NodeOf<ResultOf<typeof LIST>['objects']>
type Shown = NonNullable<ResultOf<typeof ONE>['object']>
type ShownInstallation = Extract<Shown, { readonly __typename: 'Installation' }>
type ShownItem = Extract<Shown, { readonly __typename: 'DeployItem' }>

/** `phaseline get [NAME]`: one object in full, or a list. */
export function addGet(command: Command, cli: Cli): void {
  addList(
    withCompletion(command, 'object').argument('[name]', 'id, or path such as shop/backend; without it, a list'),
    cli,
    {
      options: OPTIONS,
      instead: (session, options, name?: string) => {
        if (options.watch) return watch(session, name, options)
        if (name !== undefined) return getOne(session, cli, name, options)
        return options.failed ? failed(session, options) : null
      },
      ...OBJECTS,
    },
  )
}

const OBJECTS: List<ResultOf<typeof LIST>, VariablesOf<typeof LIST>, ListedObject, GetOptions> = {
  document: LIST,
  select: (options) => ({ filter: selectionOf(options) }),
  page: ({ objects }) => objects,
  key: 'objects',
  columns: {
    PROJECT: ({ project }) => project.name,
    NAME: ({ path }) => path,
    KIND: ({ kind }) => words(kind),
    PHASE: markedPhase,
    SINCE: ({ phaseSince }) => since(phaseSince),
    ID: ({ id }) => id,
    ERROR: ({ error }) => error?.code,
    PENDING: ({ pendingRequests }) => pendingRequests.map(({ verb }) => verb).join(', '),
  },
  none: (options) =>
    isOfRoots(options) ? 'Nothing matches among roots: --all lists nested objects too.' : 'Nothing matches.',
}

/** Subscribes from before the list was read, so that no change falls between the two. */
async function watch(session: Session, name: string | undefined, options: GetOptions): Promise<ExitCode> {
  if (name !== undefined)
    return session.refuse(invalid(`--watch follows a list: \`phaseline watch ${name}\` follows one object.`))
  if (options.failed)
    return session.refuse(invalid('--watch follows objects, and --failed lists causes: leave one out.'))
  const [{ watchList }, { endCursor }] = await Promise.all([import('../objects/watch-list.ts'), readEnd(session)])
  const filter = selectionOf(options)
  return await printList(session, OBJECTS, options, '', (listed) =>
    watchList(session, { filter, listed, after: endCursor, columns: OBJECTS.columns }),
  )
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
  const show = await shows[located.value.kind]?.()
  if (show) return await show(session, located.value)
  const { id } = located.value
  const { object } = await session.client.query(ONE, { id }, { signal: session.io.signal })
  if (!object) return session.refuse(notFoundRefusal(`${name} is gone.`))
  const { __typename, ...shown } = object
  session.emit(shown)
  const exports = Object.entries(object.exports ?? {})
  const exported = exports.map(([key, value]) => ['exports', `${key}: ${shownValue(value)}`] as const)
  const now = Date.now()
  const more = [
    ...(__typename === 'Installation' ? await installationFields(object, now) : []),
    ...(__typename === 'DeployItem' ? itemFields(object) : []),
    ...exported,
    ...describeAttempts(object, now),
    ...forecastFields(object, now),
  ]
  session.say(...describeObject(object, now, session.paint, more))
  if (__typename === 'Installation' || __typename === 'DeployItem') {
    const { describeConfig, describeSpec } = await import('../objects/describe-spec.ts')
    const { paint } = session
    session.say(...(__typename === 'DeployItem' ? describeConfig(object, paint) : describeSpec(object, paint)))
  }
  return EXIT.ok
}

function forecastFields({ forecast }: Shown, now: number): readonly Field[] {
  const path = forecast?.criticalPath.map((one) => one.path) ?? []
  return [
    ['expected', forecastText(forecast, now, duration)],
    ['critical path', path.join(', ')],
  ]
}

/** Its attempts are there in full if it has a retry policy. */
const itemFields = ({ type, target, agent, attempt, each, attempts = [] }: ShownItem): readonly Field[] => [
  ['type', type],
  ['made of', each && `the entry ${each.key} of ${each.of}`],
  ['target', target],
  ['at', agent && `${agent.name} ${agent.instance}`],
  ['attempt', attempts.length === 0 && attempt > 0 ? String(attempt) : null],
]

/** Settings are read by the library for manifests, which takes longer to load than a list. */
async function installationFields(shown: ShownInstallation, now: number): Promise<readonly Field[]> {
  const { settingFields } = await import('../objects/setting-fields.ts')
  return [...settingFields(shown), ...automaticFields(shown, now)]
}

function automaticFields(
  { automaticReconcile: automatic, finished, ignored }: ShownInstallation,
  now: number,
): readonly Field[] {
  if (!automatic) return []
  const { nextAt, editor, problem } = automatic
  const idle = idleWords(automatic, finished && !ignored)
  const next = [tellTimes(nextAt ?? '', now), retryOf(automatic)].filter(Boolean).join(', ') || idle
  return [
    ['next reconcile', `${next}, by itself for ${editor}`],
    ...(problem ? [['passed over', problem] as const] : []),
  ]
}

async function failed(session: Session, options: GetOptions): Promise<ExitCode> {
  await listFailed(session, { ...selectionOf(options), failed: true }, options.limit)
  return EXIT.ok
}

const selectionOf = (options: GetOptions) => ({
  ...filterOf(options),
  nameContains: options.nameContains ?? null,
  finished: options.finished ? true : options.unfinished ? false : null,
  rootsOnly: isOfRoots(options) || null,
})

/** A kind, a phase, a part of a name or a failure selects objects wherever they are. */
const isOfRoots = ({ roots, all, kind, phase, nameContains, failed }: GetOptions): boolean =>
  roots ?? !(all || kind || phase || nameContains !== undefined || failed)
