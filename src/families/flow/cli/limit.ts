import type { Command } from 'commander'
import type { Cli } from '../../../cli/cli.ts'
import { addList, readList } from '../../../cli/list.ts'
import { addApplyOf } from '../../../cli/manifests/apply-documents.ts'
import { exportShown } from '../../../cli/manifests/export-documents.ts'
import { describeFields } from '../../../cli/objects/fields.ts'
import { type PageOptions, recordGroup, reportDone } from '../../../cli/objects/record-commands.ts'
import { ALL_PROJECTS, OF_PROJECT, parseCount } from '../../../cli/options.ts'
import type { Session } from '../../../cli/session.ts'
import { ask } from '../../../cli/terminal/ask.ts'
import { EXIT, type ExitCode } from '../../../cli/terminal/exit.ts'
import { REFUSAL_FRAGMENT } from '../../../client-model/index.ts'
import { gql } from '../../../documents/gql.ts'
import type { ResultOf } from '../../../documents/typed-document.ts'
import { type FoundLimit, findLimit, limits } from './apply.ts'

const LIST = gql(`query ListLimits($project: String, $first: Int!, $after: String) {
  limits(project: $project, first: $first, after: $after) {
    totalCount pageInfo { hasNextPage endCursor }
    edges { node { name max maxPerKey runningCount waitingCount project { name } } }
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
    queue(first: $first) { totalCount edges { node { key position askedAt object { id path phase } } } }
  } }
}`)
const DELETE = gql(`mutation DeleteLimit($input: DeleteLimitInput!) {
  answer: deleteLimit(input: $input) { __typename ... on DeletedLimit { name } ...Refusal }
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
      RUNNING: ({ runningCount }) => runningCount,
      WAITING: ({ waitingCount }) => waitingCount,
    },
    none: 'There is no limit.',
  })

const shownKey = (key: string): string => (key === '' ? '""' : key)

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
        ['running', String(found.runningCount)],
        ['waiting', String(found.waitingCount)],
      ],
      session.paint,
    ),
  )
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
