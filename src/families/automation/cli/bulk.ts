import { setTimeout as sleep } from 'node:timers/promises'
import type { Command } from 'commander'
import type { Cli, ShowObject } from '../../../cli/cli.ts'
import { readList } from '../../../cli/list.ts'
import type { Located } from '../../../cli/objects/address.ts'
import { checkWords } from '../../../cli/objects/check-words.ts'
import { describeObject, OBJECT_FIELDS } from '../../../cli/objects/describe-object.ts'
import { type ObjectArgument, onObject } from '../../../cli/objects/object-command.ts'
import { addObjectList } from '../../../cli/objects/object-list.ts'
import { markedPhase } from '../../../cli/objects/phases.ts'
import { LABELS, type LabelArgument, parseCount, parseFlag, parseKinds, parsePhases } from '../../../cli/options.ts'
import { type Session, type SessionOptions, withSession, withSessionOptions } from '../../../cli/session.ts'
import { ask } from '../../../cli/terminal/ask.ts'
import { EXIT, type ExitCode } from '../../../cli/terminal/exit.ts'
import type { Columns } from '../../../cli/terminal/table.ts'
import { isConfirmed } from '../../../cli/terminal/terminal-input.ts'
import { notFoundRefusal, REFUSAL_FRAGMENT } from '../../../client-model/index.ts'
import type { ObjectKind, Phase } from '../../../core/vocabulary.ts'
import { gql } from '../../../documents/gql.ts'
import type { NodeOf, ResultOf, VariablesOf } from '../../../documents/typed-document.ts'

const BULK: ObjectArgument = { kind: 'BULK_OPERATION', name: 'operation', help: 'id, name, or ci/name' }

export const PREVIEW = gql(`query PreviewBulk($input: PreviewBulkOperationInput!) {
  answer: previewBulkOperation(input: $input) { __typename
    ... on BulkPreview { count groups { kind phase count refusal } sample { id kind path phase project { name } } } ...Refusal }
}\n${REFUSAL_FRAGMENT}`)
export const CREATE = gql(`mutation CreateBulk($input: CreateBulkOperationInput!) {
  answer: createBulkOperation(input: $input) { __typename
    ... on BulkOperation { id name phase counts { all waiting done unchanged refused forbidden gone cancelled } } ...Refusal }
}\n${REFUSAL_FRAGMENT}`)
const CANCEL = gql(`mutation CancelBulk($input: CancelBulkOperationInput!) {
  answer: cancelBulkOperation(input: $input) { __typename
    ... on BulkOperation { id name phase counts { all waiting done unchanged refused forbidden gone cancelled } } ...Refusal }
}\n${REFUSAL_FRAGMENT}`)
const GET = gql(`query GetBulk($id: ID!) {
  object(id: $id) { ...Full
    ... on BulkOperation {
      verb flags note ratePerSecond selection author endedAt
      counts { all waiting done unchanged refused forbidden gone cancelled }
    } }
}\n${OBJECT_FIELDS}`)
export const TARGETS = gql(`query BulkTargets($id: ID!, $only: [BulkOutcome!], $first: Int!, $after: String) {
  object(id: $id) { ... on BulkOperation { outcomes(only: $only, first: $first, after: $after) {
    totalCount pageInfo { hasNextPage endCursor }
    edges { node { targetId targetKind targetName outcome code message at caused { id kind name } } }
  } } }
}`)
const LIST = gql(`query ListBulk($filter: ObjectFilter, $first: Int!, $after: String) {
  objects(filter: $filter, first: $first, after: $after, orderBy: { field: CREATED_AT, direction: DESC }) {
    totalCount pageInfo { hasNextPage endCursor }
    edges { node { id name phase phaseClass createdAt project { name }
      ... on BulkOperation { verb author counts { all waiting done unchanged refused forbidden gone cancelled } } } }
  }
}`)
type Counts = Extract<NonNullable<ResultOf<typeof GET>['object']>, { readonly counts: object }>['counts']

const VERBS = {
  cancel: 'cancel',
  delete: 'delete',
  retry: 'retry',
  reconcile: 'start a job of',
  fire: 'fire',
  pause: 'pause',
  resume: 'resume',
} as const
/** Verbs that are confirmed on a terminal. */
const CONFIRMED: ReadonlySet<string> = new Set(['cancel', 'delete'])
const FIRST_WAIT_MS = 50
const WAIT_MS = 1_000

interface BulkOptions extends SessionOptions {
  readonly project?: string
  readonly kind?: readonly ObjectKind[]
  readonly phase?: readonly Phase[]
  readonly label?: readonly LabelArgument[]
  readonly nameContains?: string
  readonly as?: string
  readonly note?: string
  readonly rate?: number
  readonly flag?: readonly string[]
  readonly key?: string
  readonly dryRun?: boolean
  readonly wait?: boolean
  readonly yes?: boolean
}

/** `phaseline bulk …`: one verb for many objects. */
export function addBulk(group: Command, cli: Cli): void {
  for (const [verb, words] of Object.entries(VERBS))
    withSessionOptions(group.command(verb))
      .description(`${words} all objects that match`)
      .option('--project <name>', 'project (default: "default")')
      .option('--kind <kinds>', 'only these kinds', parseKinds)
      .option('--phase <phases>', 'only these phases (default: those that the verb needs)', parsePhases)
      .addOption(LABELS)
      .option('--name-contains <text>', 'only names with this in them')
      .option('--as <name>', 'name of the operation (default: one of the verb and the time)')
      .option('--note <text>', 'for people; also the reason of cancellations')
      .option('--flag <name>', 'a flag of the verb, such as cascade of a deletion', parseFlag)
      .option('--rate <count>', 'objects that are asked within a second at most', parseCount)
      .option('--key <key>', 'idempotency key, with --as: the same again within a day asks nothing')
      .option('--dry-run', 'only print how many match, and the first of them')
      .option('--wait', 'wait until each has its outcome')
      .option('-y, --yes', 'do not ask first')
      .action(async (options: BulkOptions) => {
        cli.exitCode = await withSession(cli.io, options, (session) => bulk(session, verb, options))
      })
  addBulkList(group.command('list'), cli).description('list bulk operations, the newest first')
  onObject<ShowOptions>(group.command('show'), cli, BULK, show)
    .alias('get')
    .description('show a bulk operation with the outcomes of its objects')
    .option('--outcome <outcome...>', 'only these, such as REFUSED')
    .option('--limit <count>', 'show at most this many outcomes', parseCount, SHOWN)
  onObject<object>(group.command('stop'), cli, BULK, stop).description(
    'cancel a bulk operation: what it has not asked yet is left as it is',
  )
}

interface ShowOptions {
  readonly outcome?: readonly string[]
  readonly limit: number
}
type Outcomes = VariablesOf<typeof TARGETS>['only']

async function bulk(session: Session, verb: string, options: BulkOptions): Promise<ExitCode> {
  const { kind, phase, label, nameContains, note, rate, flag, key } = options
  const wrong = await checkWords(session, { kinds: kind, phases: phase })
  if (wrong) return session.refuse(wrong)
  const project = options.project ?? 'default'
  const filter = {
    ...(kind && { kinds: kind }),
    ...(phase && { phases: phase }),
    ...(label && { labels: label }),
    ...(nameContains !== undefined && { nameContains }),
  }
  const selection = { project, verb, filter, ...(flag && { flags: flag }) }
  const asks = CONFIRMED.has(verb) && options.yes !== true
  if (options.dryRun || asks) {
    const previewed = await ask(session, PREVIEW, selection)
    if (!previewed.ok) return session.refuse(previewed.refusal)
    const preview = previewed.value
    if (options.dryRun) return sayPreview(session, verb, preview)
    const question = `${verb[0]?.toUpperCase()}${verb.slice(1)} ${counted(preview.count)} of project ${project}?`
    if (!(await isConfirmed(session.io, options, question))) {
      session.say('Nothing was asked.')
      return EXIT.interrupted
    }
  }
  const outcome = await ask(session, CREATE, {
    ...selection,
    name: options.as ?? newName(verb),
    ...(note !== undefined && { note }),
    ...(rate !== undefined && { ratePerSecond: rate }),
    ...(key !== undefined && { idempotencyKey: key }),
  })
  if (!outcome.ok) return session.refuse(outcome.refusal)
  const { id, name, phase: begun, counts } = outcome.value
  if (options.wait) return await waitFor(session, id, name)
  session.emit(outcome.value)
  session.say(`${project}/${name} ${begun}: ${countsOf(counts)}`)
  return EXIT.ok
}

/** The name of an operation that nobody names. */
export const newName = (verb: string): string =>
  `${verb}-${new Date().toISOString().replaceAll(/\D/g, '').slice(0, 17)}`

const counted = (count: number): string => `${count} ${count === 1 ? 'object' : 'objects'}`

export function sayPreview(
  session: Session,
  verb: string,
  preview: Extract<ResultOf<typeof PREVIEW>['answer'], { readonly __typename: 'BulkPreview' }>,
): ExitCode {
  const { count, groups, sample } = preview
  session.emit(preview)
  session.say(`${verb} would be asked of ${counted(count)}`)
  const [KIND, PHASE] = [(one: { kind: string }) => one.kind, (one: { phase: string }) => one.phase]
  session.list({
    nodes: groups,
    columns: { KIND, PHASE, COUNT: (one) => one.count, 'REFUSED BECAUSE': (one) => one.refusal },
  })
  session.list({
    nodes: sample,
    columns: { KIND, 'FIRST OF THEM': (one) => `${one.project.name}/${one.path}`, PHASE },
  })
  return EXIT.ok
}

export function countsOf({ all, ...others }: Counts): string {
  const parts = Object.entries(others).flatMap(([outcome, count]) => (count > 0 ? `${count} ${outcome}` : []))
  return `${counted(all)}${parts.length > 0 ? `, ${parts.join(', ')}` : ''}`
}

type Operation = Extract<NonNullable<ResultOf<typeof GET>['object']>, { readonly counts: object }>

/** The operation once each of its objects has its outcome; null: it is gone. */
export async function readFinished({ client, io }: Session, id: string): Promise<Operation | null> {
  for (let round = 0; ; round += 1) {
    const { object } = await client.query(GET, { id }, { signal: io.signal })
    if (!object || !('counts' in object) || !object.counts) return null
    if (object.finished) return object
    await sleep(Math.min(WAIT_MS, FIRST_WAIT_MS * 2 ** round), undefined, { signal: io.signal })
  }
}

async function waitFor(session: Session, id: string, name: string): Promise<ExitCode> {
  const operation = await readFinished(session, id)
  if (!operation) return session.refuse(notFoundRefusal(`${name} is gone.`))
  session.emit(operation)
  session.say(`${operation.project.name}/${operation.name} ${markedPhase(operation)}: ${countsOf(operation.counts)}`)
  if (operation.error) session.say(operation.error.message)
  return operation.phase === 'SUCCEEDED' ? EXIT.ok : EXIT.failed
}

const addBulkList = (command: Command, cli: Cli): Command =>
  addObjectList(command, cli, {
    kind: 'BULK_OPERATION',
    document: LIST,
    key: 'bulkOperations',
    columns: {
      PROJECT: ({ project }) => project.name,
      NAME: ({ name }) => name,
      VERB: ({ verb }) => verb,
      PHASE: markedPhase,
      OBJECTS: ({ counts }) => counts && countsOf(counts),
      AUTHOR: ({ author }) => author,
    },
    none: 'There is no bulk operation.',
  })

/** Outcomes that are shown. */
const SHOWN = 20

export const showBulk: ShowObject = (session, object) => show(session, object, { limit: SHOWN })

async function show(session: Session, { id, name }: Located, { outcome, limit }: ShowOptions): Promise<ExitCode> {
  const { client, io, paint } = session
  const { object } = await client.query(GET, { id }, { signal: io.signal })
  if (!object || !('counts' in object) || !object.counts) return session.refuse(notFoundRefusal(`${name} is gone.`))
  const only = (outcome ?? null) as NonNullable<Outcomes> | null
  const pages = { document: TARGETS, page: (found: ResultOf<typeof TARGETS>) => found.object?.outcomes }
  const listed = await readList(session, pages, { id, only }, limit)
  session.emit({ ...object, outcomes: listed?.nodes ?? [] })
  const { verb, flags, note, ratePerSecond, selection, author, endedAt, counts } = object
  const fields = [
    ['asks', `${verb} of ${countsOf(counts)}`],
    ['filter', selection === null ? null : JSON.stringify(selection)],
    ['with', flags && flags.length > 0 ? flags.join(', ') : null],
    ['note', note],
    ['at most', ratePerSecond === null ? null : `${ratePerSecond} within a second`],
    ['acts with the rights of', author],
    ['ended', endedAt],
  ] as const
  session.say(...describeObject(object, Date.now(), paint, fields))
  session.list({ nodes: listed?.nodes ?? [], listed, columns: OUTCOMES })
  return EXIT.ok
}

type Target = NodeOf<NonNullable<NonNullable<ResultOf<typeof TARGETS>['object']>['outcomes']>>
export const OUTCOMES: Columns<Target> = {
  KIND: ({ targetKind }) => targetKind,
  NAME: ({ targetName, targetId }) => targetName ?? targetId,
  OUTCOME: ({ outcome }) => outcome,
  WHY: ({ caused, code, message }) => (caused ? `made ${caused.name}` : code && `${code}: ${message ?? ''}`),
}

async function stop(session: Session, { id }: Located): Promise<ExitCode> {
  const outcome = await ask(session, CANCEL, { id })
  if (!outcome.ok) return session.refuse(outcome.refusal)
  session.emit(outcome.value)
  session.say(`${outcome.value.name} ${outcome.value.phase}: ${countsOf(outcome.value.counts)}`)
  return EXIT.ok
}
