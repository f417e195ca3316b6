import { Agent, request } from 'node:http'
import {
  type BenchContext,
  type BenchServer,
  type Cell,
  median,
  type Section,
  startServer,
  type Workload,
} from '../harness.ts'
import { openFloor } from './mutation-floor.ts'

export const CLIENTS = [1, 32] as const
const ROUND_MS = 2_000
/** No agent claims it. */
const TYPE = 'nobody'
const CREATE = `mutation ($input: CreateInstallationInput!) {
  createInstallation(input: $input) { __typename ... on Installation { id } ... on Error { message } }
}`

interface Contestant {
  readonly name: string
  /** Makes one installation of this name; throws when it was not made. */
  readonly create: (name: string) => Promise<void>
}

export const workload: Workload = { name: 'mutation', run }

async function run({ postgres, log, rounds }: BenchContext): Promise<Section> {
  await using stack = new AsyncDisposableStack()
  const database = (name: string): Promise<string> => postgres.createDatabase(`mutation_${name}`)
  const gateway = stack.use(await startServer({ databaseUrl: await database('gateway'), roles: ['gateway'] }))
  const both = stack.use(await startServer({ databaseUrl: await database('both'), roles: ['gateway', 'engine'] }))
  const floorUrl = await database('floor')
  {
    // For its tables.
    await using _ = await startServer({ databaseUrl: floorUrl, roles: ['gateway'] })
  }
  const floor = stack.use(await openFloor(floorUrl, { type: TYPE, connections: CONNECTIONS }))
  const contestants: readonly Contestant[] = [
    { name: 'createInstallation, gateway', create: overHttp(stack, gateway) },
    { name: 'createInstallation, gateway and engine', create: overHttp(stack, both) },
    { name: 'the same inserts through pg', create: floor.create },
  ]
  const rates = new Map(contestants.map(({ name }) => [name, CLIENTS.map((): number[] => [])]))
  // The first round is a warm-up.
  for (let round = 0; round <= rounds; round++) {
    for (const [i, clients] of CLIENTS.entries()) {
      for (const { name, create } of [...contestants.slice(round), ...contestants.slice(0, round)]) {
        const rate = await load(create, clients)
        if (round > 0) rates.get(name)?.[i]?.push(rate)
      }
    }
    log(`  round ${round} of ${rounds}`)
  }
  return sectionOf(rates)
}

/** Tried by hand on a busy machine: 2, 3 and 4 did alike, 1 and 12 worse. */
const CONNECTIONS = 3

let made = 0
/** So many at a time, each after its last one; creations a second. */
export async function load(create: Contestant['create'], clients: number): Promise<number> {
  const since = performance.now()
  const first = made
  await Promise.all(
    Array.from({ length: clients }, async () => {
      while (performance.now() - since < ROUND_MS) await create(`installation-${made++}`)
    }),
  )
  return ((made - first) / (performance.now() - since)) * 1_000
}

/** Keep-alive connections, and no more of a client than is needed. */
export function overHttp(stack: AsyncDisposableStack, { origin, token }: BenchServer): Contestant['create'] {
  const agent = new Agent({ keepAlive: true })
  stack.defer(() => agent.destroy())
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  return (name) => {
    const input = { name, spec: { deployItems: [{ name: 'item', type: TYPE }] } }
    const body = JSON.stringify({ query: CREATE, variables: { input } })
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const outgoing = request(`${origin}/graphql`, {
      agent,
      method: 'POST',
      headers: { ...headers, 'content-length': Buffer.byteLength(body) },
    })
    outgoing.on('error', reject)
    outgoing.on('response', (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (part: string) => {
        text += part
      })
      response.on('end', () => (text.includes('"__typename":"Installation"') ? resolve() : reject(new Error(text))))
      response.on('error', reject)
    })
    outgoing.end(body)
    return promise
  }
}

function sectionOf(rates: ReadonlyMap<string, readonly (readonly number[])[]>): Section {
  const names = [...rates.keys()]
  const floor = names.at(-1) ?? ''
  const rateOf = (name: string, i: number): number => median(rates.get(name)?.[i] ?? [])
  // A server can queue many clients and serve few: more waiters for one row only get in each other's way.
  const best = Math.max(...CLIENTS.map((_, i) => rateOf(floor, i)))
  const share = (name: string, i: number): string => `${((rateOf(name, i) / best) * 100).toFixed(0)} %`
  return {
    title: 'mutation: createInstallation a second',
    prose: PROSE,
    table: {
      columns: ['contestant', ...CLIENTS.flatMap((n) => [`${n} at a time, /s`, 'of the floor'])],
      rows: names.map((name) => [
        name,
        ...CLIENTS.flatMap((_, i): Cell[] => [Math.round(rateOf(name, i)), share(name, i)]),
      ]),
    },
    ratios: names
      .slice(0, -1)
      .map(
        (name) => `${name}: ${CLIENTS.map((n, i) => `${share(name, i)} of the floor with ${n} at a time`).join(', ')}.`,
      ),
  }
}

const PROSE = `
Installations with one item of a type that no agent claims, made over HTTP on kept connections, against the floor: what this
mutation reads and writes, in one transaction and a read after it, through plain \`pg\` with prepared statements, in the
process that measures, on three connections (two to four did alike, one and twelve worse). Creations in one project wait
for each other, here and there, since names and exports in it are unique; so shares are of the faster of the floor's two
rates, which callers that queue could all have. One at a time, a creation also starts its tree in its own transaction: it
writes the execution and the item, too, which the floor does not. With 32 at a time that is left to the engine, and is
another transaction of its own; both servers number the log.
`
