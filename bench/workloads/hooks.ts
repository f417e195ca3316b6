import { createHmac, randomBytes, randomUUID } from 'node:crypto'
import { ask } from '../../test/testkit/ask.ts'
import { MUTATIONS } from '../../test/testkit/documents.ts'
import { gql } from '../../test/testkit/gql.ts'
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
import { runTrees } from '../trees.ts'

/** Requests under way at a time. */
const WIDTH = 32
const ROUND_MS = 20_000
/** One of them has 50 requests a second. */
const HOOKS = 16
/** Items of the trees that run beside. */
const ITEMS = 50
const PROJECT = 'bench'
const SECRET = 'a secret that both sides have'
const CREATE_HOOK = gql(`mutation ($input: CreateHookInput!) {
  answer: createHook(input: $input) { __typename ... on Hook { id } ... on Error { message } }
}`)
const CREATE_EVENT = `mutation { createEvent(input: { project: "${PROJECT}", source: "bench", type: "push" }) {
  __typename ... on CreatedEvents { events { id } }
} }`

export const workload: Workload = { name: 'hooks', run }

interface Contestant {
  readonly name: string
  /** Throws unless there is an event. */
  readonly send: () => Promise<void>
}
interface Round {
  readonly rate: number
  readonly ms: readonly number[]
}

async function run({ postgres, log, rounds }: BenchContext): Promise<Section> {
  await using stack = new AsyncDisposableStack()
  const databaseUrl = await postgres.createDatabase('hooks')
  const env = { PHASELINE_SECRET_KEY: randomBytes(32).toString('base64') }
  const server = stack.use(await startServer({ databaseUrl, env }))
  await ask(server.client, MUTATIONS.createProject, { name: PROJECT, workerTemplate: { command: ['true'] } })
  for (let i = 0; i < HOOKS; i++)
    await ask(server.client, CREATE_HOOK, {
      ...{ project: PROJECT, name: `github-${i}`, format: 'GITHUB', secrets: [{ name: 'one', value: SECRET }] },
    })
  const contestants: readonly Contestant[] = [
    { name: 'deliveries to a hook, signed as GitHub does', send: () => deliver(server) },
    { name: 'createEvent', send: () => createEvent(server) },
  ]
  const measured = new Map(contestants.map(({ name }) => [name, [] as Round[]]))
  // The first round is a warm-up.
  for (let round = 0; round <= rounds; round++) {
    for (const { name, send } of round % 2 === 0 ? contestants : contestants.toReversed()) {
      const one = await besideTrees(server, () => load(send))
      if (round > 0) measured.get(name)?.push(one)
    }
    log(`  round ${round} of ${rounds}`)
  }
  return sectionOf(measured)
}

let sent = 0
async function deliver({ origin }: BenchServer): Promise<void> {
  const id = randomUUID()
  const body = JSON.stringify({
    id,
    ref: 'refs/heads/main',
    repository: { html_url: 'https://git.example.com/acme/shop' },
  })
  const headers = {
    ...{ 'content-type': 'application/json', 'x-github-event': 'push', 'x-github-delivery': id },
    'x-hub-signature-256': `sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}`,
  }
  const response = await fetch(`${origin}/hooks/${PROJECT}/github-${sent++ % HOOKS}`, { method: 'POST', headers, body })
  const said = await response.text()
  if (response.status !== 202) throw new Error(said)
}

async function createEvent({ origin, token }: BenchServer): Promise<void> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ query: CREATE_EVENT })
  const said = await (await fetch(`${origin}/graphql`, { method: 'POST', headers, body })).text()
  if (!said.includes('"__typename":"CreatedEvents"')) throw new Error(said)
}

async function load(send: () => Promise<void>): Promise<Round> {
  const since = performance.now()
  const ms: number[] = []
  await Promise.all(
    Array.from({ length: WIDTH }, async () => {
      while (performance.now() - since < ROUND_MS) {
        const sent = performance.now()
        await send()
        ms.push(performance.now() - sent)
      }
    }),
  )
  return { rate: (ms.length / (performance.now() - since)) * 1_000, ms }
}

/** One tree after the other runs meanwhile. */
async function besideTrees(server: BenchServer, measure: () => Promise<Round>): Promise<Round> {
  let isOver = false
  const running = (async () => {
    while (!isOver) await runTrees(server.client, 1, ITEMS)
  })()
  const [measured] = await Promise.all([
    measure().finally(() => {
      isOver = true
    }),
    running,
  ])
  return measured
}

function sectionOf(measured: ReadonlyMap<string, readonly Round[]>): Section {
  const rates = Array.from(measured.values(), (all) => median(all.map(({ rate }) => rate)))
  const [hook = Number.NaN, mutation = Number.NaN] = rates
  return {
    title: 'hooks: accepted deliveries a second',
    prose: PROSE,
    table: {
      columns: ['request', 'a second', 'p50 ms', 'p99 ms'],
      rows: Array.from(measured, ([name, all], i): Cell[] => {
        const ms = all.flatMap((one) => one.ms)
        return [name, rates[i] ?? Number.NaN, quantile(ms, 0.5), quantile(ms, 0.99)]
      }),
    },
    ratios: [`Deliveries are accepted at ${(hook / mutation).toFixed(2)}× the rate of \`createEvent\`.`],
  }
}

const PROSE = `
${WIDTH} senders at a time, for ${ROUND_MS / 1_000} seconds by turns, while the server runs one tree of ${ITEMS} items after the other. Each request makes one event. A
delivery is also verified, mapped, and kept with its body; both are answered once they are durable.
`
