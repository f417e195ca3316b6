import type { Command } from 'commander'
import { notFoundRefusal, REFUSAL_FRAGMENT } from '../../client-model/index.ts'
import { gql } from '../../documents/gql.ts'
import type { ResultOf } from '../../documents/typed-document.ts'
import type { Cli } from '../cli.ts'
import { hooks } from '../hooks/apply.ts'
import { describeDelivery, describeHook, outcomeOf } from '../hooks/describe.ts'
import { type FoundHook, findHook } from '../hooks/find.ts'
import { setDisabled } from '../hooks/set-disabled.ts'
import { addList, readList } from '../list.ts'
import { addApplyOf } from '../manifests/apply-documents.ts'
import { exportShown } from '../manifests/export-documents.ts'
import { noteStandings } from '../objects/note-standings.ts'
import { type PageOptions, recordGroup, reportDone } from '../objects/record-commands.ts'
import { ALL_PROJECTS, OF_PROJECT, parseCount } from '../options.ts'
import type { Session, SessionOptions } from '../session.ts'
import { ask } from '../terminal/ask.ts'
import { EXIT, type ExitCode } from '../terminal/exit.ts'

const LIST = gql(`query ListHooks($project: String, $first: Int!, $after: String) {
  hooks(project: $project, first: $first, after: $after) {
    totalCount pageInfo { hasNextPage endCursor }
    edges { node { id name format disabled path project { name } deliveries(first: 1) { edges { node { at outcome reason } } } } }
  }
}`)
const DELIVERIES = gql(`query HookDeliveries($id: ID!, $first: Int!, $after: String) {
  node(id: $id) { ... on Hook { deliveries(first: $first, after: $after) {
    totalCount pageInfo { hasNextPage endCursor }
    edges { node { id at outcome reason deliveryId bodyBytes secretName started { id name phase } } }
  } } }
}`)
const DELIVERY = gql(`query HookDelivery($id: ID!) {
  node(id: $id) { ... on HookDelivery {
    id at outcome reason deliveryId secretName hops headers body bodyBytes hook { name project { name } } replayOf { id } started { id name phase }
  } }
}`)
const DELETE = gql(`mutation DeleteHook($input: DeleteHookInput!) {
  answer: deleteHook(input: $input) { __typename ... on DeletedHook { name } ...Refusal }
}\n${REFUSAL_FRAGMENT}`)
const REPLAY = gql(`mutation ReplayDelivery($input: ReplayDeliveryInput!) {
  answer: replayDelivery(input: $input) { __typename ... on HookDelivery { id outcome reason started { id name } } ...Refusal }
}\n${REFUSAL_FRAGMENT}`)

/** `phaseline hook …`: events that others post. */
export function addHook(group: Command, cli: Cli): void {
  const { run, onRecord, onDelete } = recordGroup(group, cli, { noun: 'hook', find: findHook })
  addApplyOf(group, cli, hooks)
  addHookList(group.command('list'), cli).description('list hooks with the outcome of their last delivery')
  onRecord<PageOptions>('get', async (session, hook, options) => get(cli, session, hook, options))
    .description('show a hook with its last deliveries')
    .option('--limit <count>', 'show at most this many deliveries', parseCount, 20)
  onRecord('export', async (session, hook) => exportShown(session, hooks, hook)).description(
    'print the manifest of a hook; its secrets have their names only',
  )
  run(group.command('delivery'), showDelivery)
    .description('show a delivery with its headers and its body')
    .argument('<id>', 'id of the delivery')
  run<SessionOptions & { readonly key?: string }>(group.command('replay'), replay)
    .description('judge a delivery once more, by the hook as it is now')
    .argument('<id>', 'id of the delivery')
    .option('--key <key>', 'idempotency key: the same again creates no other event')
  onRecord('disable', (session, hook) => setDisabled(session, hook, true)).description(
    'let a hook create no events; what arrives is kept, and can be played again',
  )
  onRecord('enable', (session, hook) => setDisabled(session, hook, false)).description(
    'let a hook create events again, with your rights from now on',
  )
  onDelete('its secrets and deliveries', async (session, { id }, { project, name }) =>
    reportDone(session, await ask(session, DELETE, { id }), `${project}/${name} deleted`, { project, name }),
  ).description('delete a hook with its secrets and deliveries; its events stay')
}

const addHookList = (command: Command, cli: Cli): Command =>
  addList(command, cli, {
    options: [OF_PROJECT, ALL_PROJECTS],
    document: LIST,
    select: ({ project }: PageOptions) => ({ project: project ?? null }),
    page: (answer) => answer.hooks,
    key: 'hooks',
    columns: {
      PROJECT: ({ project }) => project.name,
      NAME: ({ name }) => name,
      FORMAT: ({ format }) => format,
      '': ({ disabled }) => (disabled ? 'disabled' : ''),
      LAST: ({ deliveries }) => deliveries.edges[0]?.node.at,
      OUTCOME: ({ deliveries }) => deliveries.edges.map(({ node }) => outcomeOf(node))[0],
    },
    none: 'There is no hook.',
    automatic: true,
  })

async function get(cli: Cli, session: Session, hook: FoundHook, { limit }: PageOptions): Promise<ExitCode> {
  const pages = { document: DELIVERIES, page: ({ node }: ResultOf<typeof DELIVERIES>) => node?.deliveries }
  const listed = await readList(session, pages, { id: hook.id }, limit)
  const deliveries = listed?.nodes ?? []
  session.emit({ kind: 'HOOK', ...hook, deliveries })
  session.say(...describeHook(session, hook))
  session.list({
    nodes: deliveries,
    listed,
    columns: {
      DELIVERY: ({ id }) => id,
      AT: ({ at }) => at,
      OUTCOME: outcomeOf,
      'ITS ID': ({ deliveryId }) => deliveryId,
      EVENT: ({ started }) => started?.name,
    },
  })
  await noteStandings(cli, session, hook.project.name)
  return EXIT.ok
}

async function showDelivery(session: Session, _: SessionOptions, id: string): Promise<ExitCode> {
  const { client, io } = session
  const { node } = await client.query(DELIVERY, { id }, { signal: io.signal })
  if (node?.id === undefined) return session.refuse(notFoundRefusal(`There is no delivery ${id} that you may read.`))
  session.emit(node)
  session.say(...describeDelivery(session, node))
  return EXIT.ok
}

async function replay(session: Session, { key }: { readonly key?: string }, id: string): Promise<ExitCode> {
  const outcome = await ask(session, REPLAY, { id, ...(key === undefined ? {} : { idempotencyKey: key }) })
  if (!outcome.ok) return session.refuse(outcome.refusal)
  session.emit(outcome.value)
  const { started } = outcome.value
  session.say(`${outcome.value.id} ${outcomeOf(outcome.value)}${started ? `, event ${started.name}` : ''}`)
  return outcome.value.outcome === 'ACCEPTED' || outcome.value.outcome === 'DUPLICATE' ? EXIT.ok : EXIT.failed
}
