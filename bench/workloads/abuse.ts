import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { type BenchContext, type BenchServer, quantile, type Section, startServer, type Workload } from '../harness.ts'
import { disconnect, forkModule } from '../processes.ts'
import type { ServerOptions } from '../server.ts'
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
  'plans of 20,000 items',
  '5,000 idle connections',
  '2,000 different live subscriptions',
  '400 live searches of lines',
  '100 principals of one project',
]
/** These ask for much in good faith: nothing of it may be refused. */
const HONEST: readonly AttackName[] = [
  'honest: 200 CI jobs with one token',
  'honest: 40 tabs of 8 queries and 2 subscriptions',
  'honest: creations, 32 at a time',
  'honest: creations that agents run, 32 at a time',
]
/** Time for each question, with an attack and without. */
const MEASURED_MS = 2_000
const WARM_UP_MS = 1_000
/** All is as before so long after an attacker has left. */
const RECOVERED_MS = 2_000
/** Until the attacker has its full burst again. */
const REST_MS = 3_000
const MB = 1_024 * 1_024
const ITEMS = 20
const NEWCOMERS = 40
/** Principals whose rights are those of one project. */
const CROWD = 100
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
export interface Measured {
  readonly viewer: Times
  readonly tree: Times
  /** A probe of an orchestrator, from another address. */
  readonly probe: Times
  readonly rss: number
  /** The share of callers with a fresh token who are served. */
  readonly newcomers: number
  /** Once the attacker has left. */
  readonly after?: Times
  /** Questions in good faith, and how many of them were refused. */
  readonly honest?: { readonly times: number; readonly refused: number }
}

export const workload: Workload = {
  name: 'abuse',
  async run({ postgres, log, only }: BenchContext): Promise<Section> {
    return sectionOf(await attack({ databaseUrl: await postgres.createDatabase('abuse') }, only, log))
  },
}

/** @param only part of the names of attacks; null: all of them */
export async function attack(
  options: ServerOptions,
  only: string | null,
  log: BenchContext['log'] = () => true,
): Promise<Results> {
  await using server = await startServer({
    ...options,
    env: { ...options.env, PHASELINE_TRUSTED_PROXIES: '127.0.0.1' },
  })
  const { ids } = await runTrees(server.client, 1, ITEMS)
  await server.client.query(SET_DATA, { input: { name: 'large', value: 'x'.repeat(MB - 100) } })
  const tokenOf = async (name: string, projects?: readonly string[]): Promise<string> => {
    const asked = { input: { name, role: 'USER', projects } }
    return (await server.client.query<{ answer: { secret: string } }>(CREATE_TOKEN, asked)).answer.secret
  }
  const victim = await tokenOf('victim')
  const tokens: string[] = []
  for (const name of ATTACKERS) tokens.push(await tokenOf(name))
  for (let i = 0; i < CROWD; i++) tokens.push(await tokenOf(`one of many ${i}`, ['default']))
  const newcomersOf = async (): Promise<string[]> => {
    const newcomers = []
    for (let i = 0; i < NEWCOMERS; i++) newcomers.push(await tokenOf(`newcomer ${i}`))
    return newcomers
  }
  const look = async (newcomers: readonly string[]): Promise<Measured> => {
    const measured = await measure(server, victim, ids[0] as string)
    return { ...measured, newcomers: await partServed(portOf(server), newcomers) }
  }
  const underAttack = async (name: AttackName): Promise<Measured> => {
    const newcomers = await newcomersOf()
    const { rss } = await server.read()
    const attack = await start({ name, port: portOf(server), token: tokens[0] as string, tokens })
    let measured: Measured
    try {
      await delay(WARM_UP_MS)
      measured = await look(newcomers)
      if (HONEST.includes(name)) measured = { ...measured, honest: await askedBy(attack.child) }
    } finally {
      await disconnect(attack)
    }
    await delay(RECOVERED_MS)
    const after = await timesOf(server, victim)
    await delay(REST_MS)
    log(`  ${name}`)
    return { ...measured, after, rss: measured.rss - rss }
  }
  await look(await newcomersOf())
  const quiet = { ...(await look(await newcomersOf())), rss: 0 }
  const busy = await underAttack(CONTROL)
  const found = new Map<string, Measured>()
  for (const name of [...ATTACKS, ...HONEST].filter((attack) => attack.includes(only ?? '')))
    found.set(name, await underAttack(name))
  return { quiet, busy, found }
}

async function start(attack: Attack) {
  const launched = forkModule(join(import.meta.dirname, 'abuse-attacks.ts'))
  launched.child.send(attack)
  await once(launched.child, 'message')
  return launched
}

async function askedBy(child: ChildProcess): Promise<NonNullable<Measured['honest']>> {
  const answer = once(child, 'message')
  child.send('count')
  return (await answer)[0] as NonNullable<Measured['honest']>
}

const portOf = ({ origin }: BenchServer): number => Number(new URL(origin).port)

const targetOf = (server: BenchServer, token: string, query: string, variables = {}): Target => ({
  port: portOf(server),
  // At full speed it asks for more than its share of an address that others use up.
  headers: { authorization: `Bearer ${token}`, 'x-forwarded-for': '192.0.2.1' },
  body: bodyOf(query, variables),
})

async function ask(asked: Target): Promise<Times> {
  const times: number[] = []
  const since = performance.now()
  const left = (): number => MEASURED_MS - (performance.now() - since)
  // A question that is not answered takes for ever.
  while (left() > 0)
    await load(asked, 1, left(), (ms) => times.push(ms)).catch(() => times.push(Number.POSITIVE_INFINITY))
  return { p50: quantile(times, 0.5), p99: quantile(times, 0.99) }
}

const timesOf = (server: BenchServer, token: string): Promise<Times> =>
  ask(targetOf(server, token, '{ viewer { name } }'))

/** How long each question takes, and the server's memory at its most. */
async function measure(server: BenchServer, token: string, rootId: string): Promise<Omit<Measured, 'newcomers'>> {
  const probed = { port: portOf(server), headers: { 'x-forwarded-for': '192.0.2.2' }, path: '/livez' }
  const viewer = await timesOf(server, token)
  const tree = await ask(targetOf(server, token, TREE, { id: rootId }))
  const probe = await ask(probed)
  return { viewer, tree, probe, rss: (await server.read()).rssPeak }
}

export interface Results {
  readonly quiet: Measured
  /** Beside a process that computes. */
  readonly busy: Measured
  readonly found: ReadonlyMap<string, Measured>
}

function sectionOf({ quiet, busy, found }: Results): Section {
  const row = (name: string, { viewer, tree, probe, rss, newcomers, after = viewer, honest }: Measured) => [
    ...[name, viewer.p50, viewer.p99, tree.p50, tree.p99, probe.p50, probe.p99, after.p50],
    ...[rss / MB, `${Math.round(newcomers * 100)} %`, honest ? `${honest.refused} of ${honest.times}` : ''],
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
        ...['attack', 'viewer, p50, ms', 'p99', `tree of ${ITEMS}, p50, ms`, 'p99', '`/livez`, p50, ms', 'p99'],
        'viewer afterwards, p50, ms',
        'memory, MB more',
        'newcomers served',
        'refused',
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
of them send a request, half open a WebSocket; served is who has an answer of the right kind within ten seconds. Two seconds after an attacker has left,
the other principal asks for its \`viewer\` again. The last rows ask for much in good faith, with the token of the attacker: nothing of that may be refused. No agent claims the items of creations, but for those of the last row, where a server that
runs more of them has less time for others.
`
