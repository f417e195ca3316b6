import { ask } from '../../test/testkit/ask.ts'
import { gql } from '../../test/testkit/gql.ts'
import { startReceiver } from '../../test/testkit/receiver.ts'
import {
  type BenchContext,
  type BenchServer,
  type Cell,
  median,
  quantile,
  type Section,
  startServer,
  type Workload,
} from '../harness.ts'
import { openMeter, type Spent } from '../meter.ts'
import { headOf, untilSucceeded } from '../trees.ts'

const RULES = 100
/** One of so many trees has the label of a rule; each of its items tells one of its changes. */
const TREES = 160
const ITEMS = 10
/** One receiver of so many fails, and one hangs. */
const MISBEHAVE = 20
const CREATE = gql(`mutation ($input: CreateInstallationInput!) {
  answer: createInstallation(input: $input) { __typename ... on Installation { id } ... on Error { message } }
}`)
const CREATE_RULE = gql(`mutation ($input: CreateNotificationRuleInput!) {
  answer: createNotificationRule(input: $input) { __typename ... on NotificationRule { id } ... on Error { message } }
}`)
const DELETE_RULE = gql(`mutation ($input: DeleteNotificationRuleInput!) {
  answer: deleteNotificationRule(input: $input) { __typename ... on Error { message } }
}`)

export const workload: Workload = { name: 'notifications', run }

interface Round extends Spent {
  readonly changes: number
  readonly ms: number
  /** Milliseconds from each change to its message, of receivers that answer. */
  readonly behindMs: readonly number[]
  readonly told: number
}

async function run({ postgres, log, rounds }: BenchContext): Promise<Section> {
  await using stack = new AsyncDisposableStack()
  const databaseUrl = await postgres.createDatabase('notifications')
  const env = { PHASELINE_NOTIFICATION_NETWORKS: '127.0.0.1' }
  const server = stack.use(await startServer({ databaseUrl, env }))
  const spend = await openMeter(server, databaseUrl)
  const without: Round[] = []
  const withRules: Round[] = []
  // The first round is a warm-up.
  for (let round = 0; round <= rounds; round++) {
    const plain = await spend(() => measure(server))
    const told = await withReceiver(server, () => spend(() => measure(server)))
    if (round > 0) {
      without.push(plain)
      withRules.push(told)
    }
    log(`  round ${round} of ${rounds}`)
  }
  return sectionOf(without, withRules)
}

async function measure({ client }: BenchServer): Promise<Omit<Round, keyof Spent>> {
  const after = await headOf(client)
  const since = performance.now()
  const deployItems = Array.from({ length: ITEMS }, (_, i) => ({ name: `item-${i}`, type: 'mock' }))
  const ids = await Promise.all(
    Array.from({ length: TREES }, async (_, i) => {
      const labels = [{ key: 'team', value: String(i) }]
      const { id } = await ask(client, CREATE, { name: `t${after}-${i}`, labels, spec: { deployItems } })
      return id
    }),
  )
  await untilSucceeded(client, ids, after)
  const ms = performance.now() - since
  return { changes: (await headOf(client)) - after, ms, behindMs: [], told: 0 }
}

/** Each rule tells of the trees of its team. */
async function withReceiver(server: BenchServer, run: () => Promise<Round>): Promise<Round> {
  await using receiver = await startReceiver()
  const behindMs: number[] = []
  const told = new Set<string>()
  receiver.answer = ({ headers, body }) => {
    const { data } = JSON.parse(body) as { data: { rule: string; change: { at: string } } }
    const number = Number(data.rule.slice(1)) % MISBEHAVE
    if (number === 0) return 503
    if (number === 1) return 'hangs'
    behindMs.push(Date.now() - Date.parse(data.change.at))
    told.add(String(headers['webhook-id']))
    return 204
  }
  const rules: string[] = []
  for (let i = 0; i < RULES; i++) {
    const changes = { kinds: ['DEPLOY_ITEM' as const], to: ['SUCCEEDED' as const] }
    const labels = [{ key: 'team', value: String(i) }]
    const input = { name: `r${i}`, changes: { ...changes, labels }, receiver: { webhook: { url: receiver.url } } }
    rules.push((await ask(server.client, CREATE_RULE, input)).id)
  }
  const wanted = Array.from({ length: RULES }, (_, i) => i % MISBEHAVE).filter((n) => n > 1).length * ITEMS
  const round = await run()
  const since = performance.now()
  while (told.size < wanted && performance.now() - since < 60_000) await new Promise((done) => setTimeout(done, 50))
  for (const id of rules) await ask(server.client, DELETE_RULE, { id })
  if (told.size !== wanted) throw new Error(`${told.size} messages of ${wanted} were told`)
  return { ...round, behindMs, told: told.size }
}

function sectionOf(without: readonly Round[], withRules: readonly Round[]): Section {
  const rate = (all: readonly Round[]): number => median(all.map(({ changes, ms }) => (changes / ms) * 1_000))
  const cost = (all: readonly Round[]): number => median(all.map(({ changes, spentMs }) => spentMs / changes))
  const wal = (all: readonly Round[]): number => median(all.map(({ changes, walBytes }) => walBytes / changes))
  const behind = withRules.flatMap(({ behindMs }) => behindMs)
  const row = (name: string, all: readonly Round[]): Cell[] => [name, rate(all), cost(all), wal(all)]
  const share = median(withRules.map(({ changes }) => (100 * RULES * ITEMS) / changes))
  return {
    title: `notifications: the log with ${RULES} rules`,
    prose: PROSE,
    table: {
      columns: ['rules', 'changes a second', 'processor, ms a change', 'WAL, bytes a change'],
      rows: [row('none', without), row(String(RULES), withRules)],
    },
    ratios: [
      `With rules the log takes ${((100 * rate(withRules)) / rate(without)).toFixed(0)} % of the changes a second, at ${(cost(withRules) / cost(without)).toFixed(2)}× the processor time a change; ${share.toFixed(0)} % of the changes are told.`,
      `Messages are ${(quantile(behind, 0.5) / 1_000).toFixed(2)} s behind their change at p50, ${(quantile(behind, 0.99) / 1_000).toFixed(2)} s at p99, to receivers that answer.`,
    ],
  }
}

const PROSE = `
${TREES} trees of ${ITEMS} items at once, with and without ${RULES} rules, by turns, on one server with its mock agent. Each rule tells of the items of one tree. Of
${MISBEHAVE} receivers one always fails, and one never answers. Processor time is that of the server, of all that it has started, and of Postgres.
`
