import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { type BenchContext, type BenchServer, quantile, type Section, startServer, type Workload } from '../harness.ts'
import { disconnect, forkModule } from '../processes.ts'
import { runTrees } from '../trees.ts'
import type { Attack, AttackName } from './abuse-attacks.ts'
import { partServed } from './abuse-newcomers.ts'
import { bodyOf, load, type Target } from './read-http.ts'

const CONTROL: AttackName = 'a busy processor without requests'
const ATTACKS: readonly AttackName[] = [
  '60 unfinished frames of 14 MB',
  'connection_init of 16 MB',
  'unused variables of 16 MB',
  '20 aliases of a large data object',
  'answers that are never read',
  'claimWork with an instance of 15 MB',
  'wrong tokens',
  'a flood of one principal',
  '200 slow bodies',
  'documents 3,000 deep',
  'one document of 900 fields',
  'one document of 450 refused fields',
  'new documents of 900 fields',
  'texts of 7 MB of three principals',
  'escaped texts of 6 MB of three principals',
  'pages without compression',
  '1,024 silent sockets at two addresses',
  '2,000 slow requests of two principals',
  'requests for /livez that wait for no answer',
  'wrong tokens that wait for no answer',
  'pings of 15 KB',
  'completions of what never began',
  'a schema whose pattern takes seconds',
  'ten configs of 30,000 settings',
  '5,000 idle connections',
]
/** Time for each question, with an attack and without. */
const MEASURED_MS = 2_000
const WARM_UP_MS = 1_000
/** Until the attacker has its full burst again. */
const RECOVERY_MS = 5_000
const MB = 1_024 * 1_024
const ITEMS = 20
const NEWCOMERS = 40
const ATTACKERS = ['attacker', 'second attacker', 'third attacker']

const CREATE_TOKEN = `mutation ($input: CreateTokenInput!) {
  answer: createToken(input: $input) { ... on CreatedToken { secret } ... on Error { message } }
}`
const SET_DATA = 'mutation ($input: SetDataObjectInput!) { answer: setDataObject(input: $input) { __typename } }'
const TREE = `query ($id: ID!) { tree(rootId: $id) { objects(first: 100) { edges { node { id name phase } } } } }`

/** Milliseconds of one question: half of the answers take at most the one, all but one in a hundred the other. */
interface Times {
  readonly p50: number
  readonly p99: number
}
interface Measured {
  readonly viewer: Times
  readonly tree: Times
  /** A probe of an orchestrator, from another address. */
  readonly probe: Times
  readonly rss: number
  /** The share of callers with a fresh token who are served. */
  readonly newcomers: number
}

export const workload: Workload = { name: 'abuse', run }

async function run({ postgres, log, only }: BenchContext): Promise<Section> {
  await using server = await startServer({
    databaseUrl: await postgres.createDatabase('abuse'),
    env: { PHASELINE_TRUSTED_PROXIES: '127.0.0.1' },
  })
  const { ids } = await runTrees(server.client, 1, ITEMS)
  await server.client.query(SET_DATA, { input: { name: 'large', value: 'x'.repeat(MB - 100) } })
  const tokenOf = async (name: string): Promise<string> => {
    const asked = { input: { name, role: 'USER' } }
    return (await server.client.query<{ answer: { secret: string } }>(CREATE_TOKEN, asked)).answer.secret
  }
  const victim = await tokenOf('victim')
  const tokens: string[] = []
  for (const name of ATTACKERS) tokens.push(await tokenOf(name))
  const look = async (): Promise<Measured> => {
    const newcomers = []
    for (let i = 0; i < NEWCOMERS; i++) newcomers.push(await tokenOf(`newcomer ${i}`))
    const measured = await measure(server, victim, ids[0] as string)
    return { ...measured, newcomers: await partServed(portOf(server), newcomers) }
  }
  const underAttack = async (name: AttackName): Promise<Measured> => {
    const { rss } = await server.read()
    const attack = await start({ name, port: portOf(server), token: tokens[0] as string, tokens })
    try {
      await delay(WARM_UP_MS)
      const measured = await look()
      log(`  ${name}`)
      return { ...measured, rss: measured.rss - rss }
    } finally {
      await disconnect(attack)
      await delay(RECOVERY_MS)
    }
  }
  await look()
  const quiet = { ...(await look()), rss: 0 }
  const busy = await underAttack(CONTROL)
  const found = new Map<string, Measured>()
  for (const name of ATTACKS.filter((attack) => attack.includes(only ?? ''))) found.set(name, await underAttack(name))
  return sectionOf({ quiet, busy, found })
}

async function start(attack: Attack) {
  const launched = forkModule(join(import.meta.dirname, 'abuse-attacks.ts'))
  launched.child.send(attack)
  await once(launched.child, 'message')
  return launched
}

const portOf = ({ origin }: BenchServer): number => Number(new URL(origin).port)

/** How long each question takes, and the server's memory at its most. */
async function measure(server: BenchServer, token: string, rootId: string): Promise<Omit<Measured, 'newcomers'>> {
  const target = (query: string, variables: Readonly<Record<string, unknown>> = {}): Target => ({
    port: portOf(server),
    // At full speed it asks for more than its share of an address that others use up.
    headers: { authorization: `Bearer ${token}`, 'x-forwarded-for': '192.0.2.1' },
    body: bodyOf(query, variables),
  })
  const probed = { port: portOf(server), headers: { 'x-forwarded-for': '192.0.2.2' }, path: '/livez' }
  const ask = async (asked: Target): Promise<Times> => {
    const times: number[] = []
    await load(asked, 1, MEASURED_MS, (ms) => times.push(ms))
    return { p50: quantile(times, 0.5), p99: quantile(times, 0.99) }
  }
  const viewer = await ask(target('{ viewer { name } }'))
  const tree = await ask(target(TREE, { id: rootId }))
  const probe = await ask(probed)
  return { viewer, tree, probe, rss: (await server.read()).rssPeak }
}

interface Results {
  readonly quiet: Measured
  /** Beside a process that computes. */
  readonly busy: Measured
  readonly found: ReadonlyMap<string, Measured>
}

function sectionOf({ quiet, busy, found }: Results): Section {
  const row = (name: string, { viewer, tree, probe, rss, newcomers }: Measured) => [
    ...[name, viewer.p50, viewer.p99, tree.p50, tree.p99, probe.p99],
    ...[rss / MB, `${Math.round(newcomers * 100)} %`],
  ]
  const worst = (times: (measured: Measured) => number): string =>
    Math.max(...[...found.values()].map(times)).toFixed(1)
  const against = (base: Measured, part: keyof Times): string =>
    `${part} of \`viewer\` is ${worst(({ viewer }) => viewer[part] / base.viewer[part])} times as long, that of the tree ${worst(({ tree }) => tree[part] / base.tree[part])} times`
  return {
    title: 'abuse: what one caller can do to another',
    prose: PROSE,
    table: {
      columns: [
        ...['attack', 'viewer, p50, ms', 'p99', `tree of ${ITEMS}, p50, ms`, 'p99', '`/livez`, p99, ms'],
        'memory, MB more',
        'newcomers served',
      ],
      rows: [row('none', quiet), row(CONTROL, busy), ...[...found].map(([name, measured]) => row(name, measured))],
    },
    ratios: [
      `At worst, compared with a quiet server, ${against(quiet, 'p50')}; ${against(quiet, 'p99')}; memory grows by ${worst(({ rss }) => rss / MB)} MB.`,
      `At worst, compared with a server beside a busy processor, ${against(busy, 'p50')}; ${against(busy, 'p99')}.`,
    ],
  }
}

const PROSE = `
While one attack after the other runs at full speed from a process of its own, another principal asks for its \`viewer\` and for a tree of
${ITEMS} items, and a third address for \`/livez\`, one request at a time on one connection. All processes share the machine, so an attack also takes processor time from Postgres
and from the client that is measured; beside the process of the second row, which computes and sends nothing, they have as little of it. Memory is the most that the server's process has in the meantime, over what it had before the attack.
It has an address of its own, while the newcomers have that of the attackers. All other settings are the defaults. Newcomers are ${NEWCOMERS} callers of the address of most attacks whose tokens are used for the first time: half
of them send a request, half open a WebSocket; served is who has an answer of the right kind within ten seconds.
`
