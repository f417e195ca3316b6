import { type Command, InvalidArgumentError } from 'commander'
import type { Cli } from '../../../cli/cli.ts'
import { addList, readList } from '../../../cli/list.ts'
import { addApplyOf } from '../../../cli/manifests/apply-documents.ts'
import { exportShown } from '../../../cli/manifests/export-documents.ts'
import { describeFields } from '../../../cli/objects/fields.ts'
import { type PageOptions, type RecordOptions, recordGroup, reportDone } from '../../../cli/objects/record-commands.ts'
import { ALL_PROJECTS, OF_PROJECT, parseCount, parseLength } from '../../../cli/options.ts'
import type { Session } from '../../../cli/session.ts'
import { ask } from '../../../cli/terminal/ask.ts'
import { EXIT, type ExitCode } from '../../../cli/terminal/exit.ts'
import { REFUSAL_FRAGMENT } from '../../../client-model/index.ts'
import { parseDuration, writeDuration } from '../../../core/parse-duration.ts'
import { gql } from '../../../documents/gql.ts'
import type { ResultOf } from '../../../documents/typed-document.ts'
import { type FoundLimit, findLimit, limits } from './apply.ts'

const LIST = gql(`query ListLimits($project: String, $first: Int!, $after: String) {
  limits(project: $project, first: $first, after: $after) {
    totalCount pageInfo { hasNextPage endCursor }
    edges { node { name max maxPerKey rate { count perMs } pause { at } runningCount waitingCount project { name } } }
  }
}`)
const KEYS = gql(`query LimitKeys($id: ID!, $first: Int!, $after: String) {
  node(id: $id) { ... on Limit { keys(first: $first, after: $after) {
    totalCount pageInfo { hasNextPage endCursor }
    edges { node { key runningCount waitingCount } }
  } } }
}`)
const TICKETS = gql(`query LimitTickets($id: ID!, $first: Int!) {
  node(id: $id) { ... on Limit {
    holders(first: $first) { totalCount edges { node { key grantedAt object { id path phase } } } }
    queue(first: $first) { totalCount edges { node { key position priority askedAt object { id path phase } } } }
  } }
}`)
const DELETE = gql(`mutation DeleteLimit($input: DeleteLimitInput!) {
  answer: deleteLimit(input: $input) { __typename ... on DeletedLimit { name } ...Refusal }
}\n${REFUSAL_FRAGMENT}`)

const OVERRIDE = gql(`mutation OverrideLimit($input: OverrideLimitInput!) {
  answer: overrideLimit(input: $input) { __typename ... on Limit { id } ...Refusal }
}\n${REFUSAL_FRAGMENT}`)
const PAUSE = gql(`mutation PauseLimit($input: PauseLimitInput!) {
  answer: pauseLimit(input: $input) { __typename ... on Limit { id } ...Refusal }
}\n${REFUSAL_FRAGMENT}`)
const RESUME = gql(`mutation ResumeLimit($input: ResumeLimitInput!) {
  answer: resumeLimit(input: $input) { __typename ... on Limit { id } ...Refusal }
}\n${REFUSAL_FRAGMENT}`)

/** `phaseline limit …`: how much of a project runs at once. */
export function addLimit(group: Command, cli: Cli): void {
  const { onRecord, onDelete } = recordGroup(group, cli, { noun: 'limit', find: findLimit })
  addApplyOf(group, cli, limits)
  addLimitList(group.command('list'), cli).description('list limits with how much holds them, and waits for them')
  onRecord<PageOptions>('get', get)
    .description('show a limit with its keys, what holds it, and its queue')
    .option('--limit <count>', 'show at most this many keys, holders and waiters', parseCount, 20)
  onRecord('export', async (session, limit) => exportShown(session, limits, limit)).description(
    'print the manifest of a limit',
  )
  onRecord<OverrideOptions>('override', override)
    .description('give a key other bounds for a time; without bounds, those of the limit apply to it again')
    .option('--key <key>', 'the key', '')
    .option('--max-per-key <count>', 'how many may hold the limit at once with it; 0: none starts', parseCount)
    .option('--rate <count/time>', 'how many may start with it in a time, such as 10/1m', parseRate)
    .option('--for <time>', 'how long, such as 2h', parseLength)
  onRecord<RecordOptions & { readonly reason?: string }>(
    'pause',
    async (session, { id, name, project }, { reason = null }) =>
      reportDone(session, await ask(session, PAUSE, { id, reason }), `${project.name}/${name} paused`, {
        ...{ project: project.name, name },
      }),
  )
    .description('pause a limit: nothing starts that asks for it')
    .option('--reason <text>', 'shown while it is paused')
  onRecord('resume', async (session, { id, name, project }) =>
    reportDone(session, await ask(session, RESUME, { id }), `${project.name}/${name} resumed`, {
      ...{ project: project.name, name },
    }),
  ).description('end the pause of a limit')
  onDelete('its queue', async (session, { id }, { project, name }) =>
    reportDone(session, await ask(session, DELETE, { id }), `${project}/${name} deleted`, { project, name }),
  ).description('delete a limit; what waits for it starts')
}

const addLimitList = (command: Command, cli: Cli): Command =>
  addList(command, cli, {
    options: [OF_PROJECT, ALL_PROJECTS],
    document: LIST,
    select: ({ project }: PageOptions) => ({ project: project ?? null }),
    page: (answer) => answer.limits,
    key: 'limits',
    columns: {
      PROJECT: ({ project }) => project.name,
      NAME: ({ name }) => name,
      MAX: ({ max }) => max,
      'PER KEY': ({ maxPerKey }) => maxPerKey,
      RATE: ({ rate }) => rate && writeRate(rate),
      RUNNING: ({ runningCount }) => runningCount,
      WAITING: ({ waitingCount }) => waitingCount,
      PAUSED: ({ pause }) => (pause ? 'yes' : ''),
    },
    none: 'There is no limit.',
  })

interface OverrideOptions extends RecordOptions {
  readonly key: string
  readonly maxPerKey?: number
  readonly rate?: ShownRate
  readonly for?: number
}
interface ShownRate {
  readonly count: number
  readonly perMs: number
}
function parseRate(text: string): ShownRate {
  const [, count = '', per = ''] = /^(\d+)\/(.+)$/.exec(text) ?? []
  const perMs = parseDuration(per)
  if (perMs === null) throw new InvalidArgumentError('Expected a number and a duration, such as 10/1m.')
  return { count: Number(count), perMs }
}
const writeRate = ({ count, perMs }: ShownRate): string => `${count}/${writeDuration(perMs)}`

async function override(
  session: Session,
  { id, name, project }: FoundLimit,
  options: OverrideOptions,
): Promise<ExitCode> {
  const { key, maxPerKey = null, rate = null, for: ttlMs = null } = options
  const outcome = await ask(session, OVERRIDE, { id, key, maxPerKey, rate, ttlMs })
  const done = maxPerKey === null && rate === null ? 'has the bounds of the limit again' : 'has other bounds'
  const fields = { project: project.name, name, key }
  return reportDone(session, outcome, `${project.name}/${name}: the key ${shownKey(key)} ${done}`, fields)
}

const STRATEGIES: Readonly<Record<Exclude<FoundLimit['strategy'], 'QUEUE'>, string>> = {
  LATEST_ONLY: 'a newer worker or job takes the place of those of its key that wait',
  CANCEL_RUNNING: 'a newer worker or job takes the place of those of its key that wait or run',
  SKIP: 'a worker or job is not started while there is an older one of its key',
}

const shownKey = (key: string): string => (key === '' ? '""' : key)

const pausedBy = ({ at, by, reason }: NonNullable<FoundLimit['pause']>): string =>
  `by ${by} since ${at}${reason === null ? '' : `: ${reason}`}`

async function get(session: Session, found: FoundLimit, { limit }: PageOptions): Promise<ExitCode> {
  const { client, io } = session
  const pages = { document: KEYS, page: ({ node }: ResultOf<typeof KEYS>) => node?.keys }
  const listed = await readList(session, pages, { id: found.id }, limit)
  const { node } = await client.query(TICKETS, { id: found.id, first: limit }, { signal: io.signal })
  const keys = listed?.nodes ?? []
  const holders = node?.holders?.edges.map((edge) => edge.node) ?? []
  const queue = node?.queue?.edges.map((edge) => edge.node) ?? []
  session.emit({ kind: 'LIMIT', ...found, keys, holders, queue })
  session.say(
    ...describeFields(
      [
        ['limit', `${found.project.name}/${found.name}`],
        ['description', found.description],
        ['max', found.max === null ? 'none' : String(found.max)],
        ['max per key', found.maxPerKey === null ? 'none' : String(found.maxPerKey)],
        ['rate of a key', found.rate ? writeRate(found.rate) : 'none'],
        ['strategy', found.strategy === 'QUEUE' ? '' : STRATEGIES[found.strategy]],
        ['debounce', found.debounceMs === null ? '' : writeDuration(found.debounceMs)],
        ['shared', found.shared ? `with all projects, as ${found.project.name}/${found.name}` : ''],
        ['weights', found.weights.map(({ key, weight }) => `${shownKey(key)}: ${weight}`).join(', ')],
        ['paused', found.pause && pausedBy(found.pause)],
        ['running', String(found.runningCount)],
        ['waiting', String(found.waitingCount)],
      ],
      session.paint,
    ),
  )
  if (found.overrides.length > 0)
    session.list({
      nodes: found.overrides,
      listed: listed && { ...listed, nodes: found.overrides, totalCount: found.overrides.length },
      columns: {
        OVERRIDDEN: ({ key }) => shownKey(key),
        'PER KEY': ({ maxPerKey }) => maxPerKey,
        RATE: ({ rate }) => rate && writeRate(rate),
        UNTIL: ({ until }) => until,
        BY: ({ by }) => by,
      },
    })
  session.list({
    nodes: keys,
    listed,
    columns: {
      KEY: ({ key }) => shownKey(key),
      RUNNING: ({ runningCount }) => runningCount,
      WAITING: ({ waitingCount }) => waitingCount,
    },
  })
  const shown = [
    ...holders.map(({ grantedAt, ...rest }) => ({ ...rest, at: grantedAt, state: 'holds it' })),
    ...queue.map(({ askedAt, position, ...rest }) => ({ ...rest, at: askedAt, state: `waits, number ${position}` })),
  ]
  const total = (node?.holders?.totalCount ?? 0) + (node?.queue?.totalCount ?? 0)
  if (shown.length > 0)
    session.list({
      nodes: shown,
      listed: listed && { ...listed, nodes: shown, totalCount: total },
      columns: {
        OBJECT: ({ object }) => object?.path ?? '?',
        KEY: ({ key }) => shownKey(key),
        STATE: ({ state }) => state,
        SINCE: ({ at }) => at,
      },
    })
  return EXIT.ok
}
