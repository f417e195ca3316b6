import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { type Client, createClient } from '../../src/client/index.ts'
import { atOnce } from '../at-once.ts'
import {
  type BenchContext,
  type BenchServer,
  median,
  quantile,
  type Section,
  startServer,
  type Workload,
} from '../harness.ts'
import { disconnect, forkModule } from '../processes.ts'
import { DISTURBANCES, type Disturbance, type DisturbanceName, FLOOD, READERS } from './others-disturbances.ts'

/** Time for each measurement; each round measures a quiet server for as long. */
const MEASURED_MS = 2_500
const WARM_UP_MS = 500
/** Principals that are measured, each with one request at a time. */
const OTHERS = 2
const EVENTS = 10_000
const WAITING = `a project with ${EVENTS.toLocaleString('en-US')} waiting events`

export const workload: Workload = { name: 'others', run }

async function run({ postgres, log, rounds, only }: BenchContext): Promise<Section> {
  await using stack = new AsyncDisposableStack()
  const open = async (name: string): Promise<Site> => {
    const databaseUrl = await postgres.createDatabase(`others_${name}`)
    return await openSite(stack.use(await startServer({ databaseUrl, roles: ['gateway', 'engine'] })), databaseUrl)
  }
  const site = await open('disturbed')
  const names = (Object.keys(DISTURBANCES) as DisturbanceName[]).filter((name) => name.includes(only ?? ''))
  const measured = new Map<string, Pair>([...names, WAITING].map((name) => [name, { quiet: [], disturbed: [] }]))
  await measure(site)
  for (let round = 0; round < rounds; round++) {
    for (const name of names) {
      const pair = measured.get(name) as Pair
      // Quiet comes first and last by turns, since a server gets slower as it fills.
      const order = round % 2 === 0 ? [pair.quiet, pair.disturbed] : [pair.disturbed, pair.quiet]
      for (const times of order) times.push(await (times === pair.quiet ? measure(site) : measureBeside(name, site)))
    }
    log(`  round ${round + 1} of ${rounds}`)
  }
  if (WAITING.includes(only ?? '')) {
    const full = await open('waiting')
    await fill(full)
    log(`  ${WAITING}`)
    await measure(full)
    const pair = measured.get(WAITING) as Pair
    for (let round = 0; round < rounds; round++) {
      const order = round % 2 === 0 ? ([site, full] as const) : ([full, site] as const)
      for (const one of order) (one === site ? pair.quiet : pair.disturbed).push(await measure(one))
    }
  }
  return sectionOf([...measured].filter(([, { quiet }]) => quiet.length > 0))
}

interface Pair {
  /** Milliseconds of each request, by rounds. */
  readonly quiet: (readonly number[])[]
  readonly disturbed: (readonly number[])[]
}

interface Site {
  readonly server: BenchServer
  readonly databaseUrl: string
  /** Disturbs with it. */
  readonly token: string
  /** Claims the work of those who are measured. */
  readonly agent: Client
}

const CREATE_TOKEN = `mutation ($input: CreateTokenInput!) {
  answer: createToken(input: $input) { ... on CreatedToken { secret } ... on Error { message } }
}`
const CREATE_PROJECT = `mutation ($input: CreateProjectInput!) {
  answer: createProject(input: $input) { __typename ... on Error { message } }
}`
const CREATE_EVENT = `mutation ($input: CreateEventInput!) {
  answer: createEvent(input: $input) { __typename ... on Error { message } }
}`
const CREATE = `mutation ($input: CreateInstallationInput!) {
  answer: createInstallation(input: $input) { __typename ... on Installation { id } ... on Error { message } }
}`
const CANCEL = `mutation ($input: CancelInstallationInput!) {
  answer: cancelInstallation(input: $input) { __typename ... on Error { message } }
}`
const CLAIM = `mutation ($input: ClaimWorkInput!) {
  answer: claimWork(input: $input) { __typename ... on ClaimedWork { items { fence } } ... on Error { message } }
}`
const REPORT = `mutation ($input: ReportPhasesInput!) {
  answer: reportPhases(input: $input) { __typename ... on PhaseReports { results { __typename } } ... on Error { message } }
}`
/** The agent that is measured claims it. */
const TYPE = 'worked'

interface Answer {
  readonly __typename: string
  readonly message?: string
  readonly id?: string
  readonly items?: readonly { readonly fence: string }[]
}
async function send(client: Client, document: string, input: object): Promise<Answer> {
  const { answer } = await client.query<{ answer: Answer & { readonly secret?: string } }>(document, { input })
  if (answer.message) throw new Error(answer.message)
  return answer
}

async function openSite(server: BenchServer, databaseUrl: string): Promise<Site> {
  const { client, origin } = server
  const tokenOf = async (input: object): Promise<string> =>
    ((await send(client, CREATE_TOKEN, input)) as { readonly secret?: string }).secret ?? ''
  const token = await tokenOf({ name: 'disturber', role: 'ADMIN' })
  const agentToken = await tokenOf({ name: 'agent', role: 'AGENT', actor: 'DEPLOYER', types: [TYPE] })
  for (const name of ['slow', 'flooded']) await send(client, CREATE_PROJECT, { name })
  return { server, databaseUrl, token, agent: createClient({ url: `${origin}/graphql`, token: agentToken }) }
}

/** Events that none of its workers may start, and an engine that has found that out for each of them. */
async function fill({ server: { client }, databaseUrl }: Site): Promise<void> {
  const workerTemplate = { command: ['true'] }
  await send(client, CREATE_PROJECT, { name: 'waiting', workerTemplate, limits: { maxWorkers: 0 } })
  const input = { project: 'waiting', source: 'bench', type: 'push' }
  await atOnce(EVENTS, FLOOD, async () => void (await send(client, CREATE_EVENT, input)))
  const database = new pg.Client({ connectionString: databaseUrl })
  await database.connect()
  while ((await database.query('select from wake limit 1')).rowCount) await delay(WARM_UP_MS)
  await database.end()
}

let made = 0
/** Milliseconds of each request: creations, a claim, a report and a cancel, on trees that nobody else uses. */
async function measure({ server: { client }, agent }: Site): Promise<readonly number[]> {
  const times: number[] = []
  const timed = async (...request: Parameters<typeof send>): Promise<Answer> => {
    const since = performance.now()
    const answer = await send(...request)
    times.push(performance.now() - since)
    return answer
  }
  const installation = (type: string) => ({ name: `other-${made++}`, spec: { deployItems: [{ name: 'item', type }] } })
  const since = performance.now()
  const one = async (instance: string): Promise<void> => {
    while (performance.now() - since < MEASURED_MS) {
      await timed(client, CREATE, installation(TYPE))
      const claim = { instance, types: [TYPE], max: 1, leaseMs: 60_000 }
      const { items = [] } = await timed(agent, CLAIM, claim)
      const reports = items.map(({ fence }) => ({ fence, phase: 'SUCCEEDED' }))
      if (reports.length > 0) await timed(agent, REPORT, { reports })
      const { id } = await timed(client, CREATE, installation('nobody'))
      await timed(client, CANCEL, { id })
    }
  }
  await Promise.all(Array.from({ length: OTHERS }, (_, i) => one(`agent-${i}`)))
  return times
}

async function measureBeside(name: DisturbanceName, site: Site): Promise<readonly number[]> {
  const { server, databaseUrl, token } = site
  const prefix = `d${made++}-`
  const spec = { deployItems: [{ name: 'item', type: 'nobody' }] }
  const { id: rootId = '' } = await send(server.client, CREATE, { name: `${prefix}root`, spec })
  const launched = forkModule(join(import.meta.dirname, 'others-disturbances.ts'))
  const disturbance: Disturbance = { name, origin: server.origin, token, databaseUrl, rootId, prefix }
  launched.child.send(disturbance)
  await once(launched.child, 'message')
  try {
    await delay(WARM_UP_MS)
    return await measure(site)
  } finally {
    await disconnect(launched)
    // The engine may still have work from the disturbance, which must not affect the next measurement.
    await delay(WARM_UP_MS)
  }
}

function sectionOf(measured: readonly (readonly [string, Pair])[]): Section {
  const ratioOf = ({ quiet, disturbed }: Pair, share: number) =>
    median(disturbed.map((times, round) => quantile(times, share) / quantile(quiet[round] ?? [], share)))
  const row = ([name, pair]: readonly [string, Pair]) => {
    const [quiet, disturbed] = [pair.quiet.flat(), pair.disturbed.flat()]
    return [
      name,
      ...[quantile(quiet, 0.5), quantile(disturbed, 0.5), ratioOf(pair, 0.5)],
      ...[quantile(quiet, 0.99), quantile(disturbed, 0.99), ratioOf(pair, 0.99)],
      disturbed.length / quiet.length,
    ]
  }
  const [tree, project] = (['a flooded tree', 'a flooded project'] as const).map((name) =>
    measured.find(([one]) => one === name),
  )
  return {
    title: 'others: what a slow tree, project, reader or expression costs everyone else',
    prose: PROSE,
    table: {
      columns: ['beside', 'p50 quiet, ms', 'p50, ms', 'ratio', 'p99 quiet, ms', 'p99, ms', 'ratio', 'requests'],
      rows: measured.map(row),
    },
    ratios:
      tree && project
        ? [
            `A flooded tree, against a flooded project: p50 ${(ratioOf(tree[1], 0.5) / ratioOf(project[1], 0.5)).toFixed(2)}×, p99 ${(ratioOf(tree[1], 0.99) / ratioOf(project[1], 0.99)).toFixed(2)}×.`,
          ]
        : [],
  }
}

const PROSE = `
${OTHERS} callers, each with one request at a time, create trees, claim and report their work, and cancel them, in a project of their own. Meanwhile another principal, in a
process of its own, has a transaction that keeps the root of one tree locked, and ${FLOOD} cancels that wait for it; or ${READERS} subscriptions to the whole log of
which it reads nothing; or creations whose expression never ends, some eight a second; or ${FLOOD} requests at a time on one tree, or creations in one
project. Each measurement is one of a pair with a quiet one, before it and after it by turns; the ratios are medians of those of the pairs. The last row compares with a server of its own. Floods take processor time
from everyone, so they are to be compared with each other.
`
