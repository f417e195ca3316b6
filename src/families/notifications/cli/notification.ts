import type { Command } from 'commander'
import type { Cli } from '../../../cli/cli.ts'
import { addList, readList } from '../../../cli/list.ts'
import { addApplyOf } from '../../../cli/manifests/apply-documents.ts'
import { exportShown } from '../../../cli/manifests/export-documents.ts'
import { describeFields } from '../../../cli/objects/fields.ts'
import { noteStandings } from '../../../cli/objects/note-standings.ts'
import { type PageOptions, type RecordName, recordGroup, reportDone } from '../../../cli/objects/record-commands.ts'
import { ALL_PROJECTS, OF_PROJECT, parseCount } from '../../../cli/options.ts'
import type { Session, SessionOptions } from '../../../cli/session.ts'
import { ask } from '../../../cli/terminal/ask.ts'
import { EXIT, type ExitCode } from '../../../cli/terminal/exit.ts'
import { duration } from '../../../cli/terminal/text.ts'
import { REFUSAL_FRAGMENT } from '../../../client-model/index.ts'
import { gql } from '../../../documents/gql.ts'
import type { ResultOf } from '../../../documents/typed-document.ts'
import { type FoundRule, findRule, rules } from './apply.ts'

const DELETE = gql(`mutation DeleteNotificationRule($input: DeleteNotificationRuleInput!) {
  answer: deleteNotificationRule(input: $input) { __typename ... on DeletedNotificationRule { name } ...Refusal }
}\n${REFUSAL_FRAGMENT}`)
const TEST = gql(`mutation TestNotificationRule($input: TestNotificationRuleInput!) {
  answer: testNotificationRule(input: $input) { __typename ... on Notification { id } ...Refusal }
}\n${REFUSAL_FRAGMENT}`)
const REPLAY = gql(`mutation ReplayNotification($input: ReplayNotificationInput!) {
  answer: replayNotification(input: $input) { __typename ... on Notification { id } ...Refusal }
}\n${REFUSAL_FRAGMENT}`)
const LIST = gql(`query ListNotificationRules($project: String, $first: Int!, $after: String) {
  notificationRules(project: $project, first: $first, after: $after) {
    totalCount pageInfo { hasNextPage endCursor }
    edges { node {
      name enabled mayRead pendingCount project { name } receiver { channel url to }
      notifications(first: 1) { edges { node { state problem } } }
    } }
  }
}`)
const MESSAGES = gql(`query NotificationsOf($id: ID!, $first: Int!, $after: String) {
  node(id: $id) { ... on NotificationRule { notifications(first: $first, after: $after) {
    totalCount pageInfo { hasNextPage endCursor }
    edges { node { id text state attempts due problem late createdAt } }
  } } }
}`)

/** `phaseline notification …`: rules that tell phase changes to people and other systems. */
export function addNotification(group: Command, cli: Cli): void {
  const { run, onRecord, onDelete } = recordGroup(group, cli, { noun: 'rule', find: findRule })
  addApplyOf(group, cli, rules)
  addRuleList(group.command('list'), cli).description('list rules with their last messages')
  onRecord<PageOptions>('get', async (session, rule, options) => get(cli, session, rule, options))
    .description('show a rule with its last messages')
    .option('--limit <count>', 'show at most this many messages', parseCount, 20)
  onRecord('export', async (session, rule) => exportShown(session, rules, rule)).description(
    'print the manifest of a rule; its secret has its name only',
  )
  const done =
    (document: typeof TEST | typeof DELETE, said: string) =>
    async (session: Session, { id }: FoundRule, { project, name }: RecordName): Promise<ExitCode> =>
      reportDone(session, await ask(session, document as typeof TEST, { id }), `${project}/${name} ${said}`)
  onRecord('test', done(TEST, 'tried: `phaseline notification get` shows whether it has arrived')).description(
    'send a message that tells nothing, to see whether it arrives',
  )
  onDelete('its messages', done(DELETE, 'deleted')).description('delete a rule with its messages')
  run(group.command('replay'), async (session, _: SessionOptions, id) =>
    reportDone(session, await ask(session, REPLAY, { id }), `${id} is sent again`),
  )
    .description('send a message again that was delivered or has failed')
    .argument('<id>', 'id of the message, as `get` shows it')
}

interface ShownReceiver {
  readonly channel: string
  readonly url: string | null
  readonly to: readonly string[]
}
const shownReceiver = ({ channel, url, to }: ShownReceiver): string => [channel, url ?? to.join(', ')].join(' ').trim()
const shownState = ({ enabled, mayRead }: { readonly enabled: boolean; readonly mayRead: boolean }): string =>
  enabled ? (mayRead ? 'enabled' : 'its editor has lost the right to edit it: it tells nothing') : 'disabled'
const outcomeOf = ({ state, problem }: { readonly state: string; readonly problem: string | null }): string =>
  problem === null ? state : `${state}: ${problem}`

const addRuleList = (command: Command, cli: Cli): Command =>
  addList(command, cli, {
    options: [OF_PROJECT, ALL_PROJECTS],
    document: LIST,
    select: ({ project }: PageOptions) => ({ project: project ?? null }),
    page: ({ notificationRules }) => notificationRules,
    key: 'rules',
    columns: {
      PROJECT: ({ project }) => project.name,
      NAME: ({ name }) => name,
      STATE: shownState,
      TO: ({ receiver }) => shownReceiver(receiver),
      WAITING: ({ pendingCount }) => pendingCount,
      LAST: ({ notifications }) => notifications.edges.map(({ node }) => outcomeOf(node))[0],
    },
    none: 'There is no rule.',
    automatic: true,
  })

const shownQuiet = ({ quietHours }: FoundRule): string | null =>
  quietHours &&
  `${quietHours.ranges.map(({ days, from, to }) => [days.join(' '), `${from} to ${to}`].join(' ').trim()).join(', ')}, ${quietHours.timeZone}`

async function get(
  cli: Cli,
  session: Session,
  rule: FoundRule,
  { project, name, limit }: PageOptions & RecordName,
): Promise<ExitCode> {
  const { paint } = session
  const pages = { document: MESSAGES, page: ({ node }: ResultOf<typeof MESSAGES>) => node?.notifications }
  const listed = await readList(session, pages, { id: rule.id }, limit)
  const messages = listed?.nodes ?? []
  session.emit({
    kind: 'NOTIFICATION_RULE',
    ...rule,
    project,
    notifications: { edges: messages.map((node) => ({ node })) },
  })
  const { changes, receiver } = rule
  session.say(
    ...describeFields(
      [
        ['rule', `${project}/${name}  ${shownState(rule)}`],
        ['description', rule.description],
        ['projects', changes.projects.join(', ')],
        ['kinds', changes.kinds.join(', ')],
        ['phases', changes.to.join(', ')],
        ['classes', changes.classes.join(', ')],
        ['reasons', changes.reasons.join(', ')],
        ['only roots', changes.rootsOnly ? 'yes' : null],
        ['labels', changes.labels.map(({ key, value }) => `${key}=${value}`).join(', ')],
        ['digest', rule.digest && `of ${duration(rule.digest.windowMs)}`],
        ['quiet hours', shownQuiet(rule)],
        ['urgent', rule.urgent.join(', ')],
        ['tells', shownReceiver(receiver)],
        ['secret', receiver.secret],
        ['text', rule.text],
        ['with the rights of', rule.editor],
        ['messages that wait', String(rule.pendingCount)],
      ],
      paint,
    ),
  )
  session.list({
    nodes: messages,
    listed,
    columns: {
      WRITTEN: ({ createdAt }) => createdAt,
      TELLS: ({ text }) => text,
      STATE: outcomeOf,
      NEXT: ({ due }) => due,
      ID: ({ id }) => id,
    },
  })
  await noteStandings(cli, session, project)
  return EXIT.ok
}
