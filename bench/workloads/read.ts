import { once } from 'node:events'
import { join } from 'node:path'
import pg from 'pg'
import { type BenchContext, type BenchServer, median, type Section, startServer, type Workload } from '../harness.ts'
import { disconnect, forkModule } from '../processes.ts'
import { runTrees } from '../trees.ts'
import { ask, bodyOf, load, type Target } from './read-http.ts'
import { comparable, LIST, type Lists, type Question, RELATIONS_VIEW, TREE } from './read-queries.ts'

interface Reading {
  readonly statements: number
  readonly cpuMs: number
}
interface Contestant {
  readonly name: string
  readonly target: (question: Question) => Target
  readonly read: () => Promise<Reading>
}
interface Measured {
  readonly requestsPerSecond: number
  /** The server's processor time for one request, in milliseconds. */
  readonly cpuMs: number
}
interface Read extends Measured {
  readonly question: Question
  readonly contestant: string
  readonly statements: number
  readonly kilobytes: number
}

const ITEMS = 4_998
const OTHERS = { trees: 20, items: 200 }
const ROUND_MS = 3_000
const COUNTED = 20

export const workload: Workload = { name: 'read', run }

async function run({ postgres, log, rounds }: BenchContext): Promise<Section> {
  const databaseUrl = await postgres.createDatabase('read')
  const rootId = await fill(databaseUrl)
  await postgres.checkpoint()
  // Without an engine, which has nothing to do here but would ask the database whether it has.
  await using server = await startServer({ databaseUrl, roles: ['gateway'] })
  await using postgraphile = await startPostgraphile(databaseUrl)
  const contestants = [ours(server, rootId), theirs(postgraphile, rootId)]
  const reads: Read[] = []
  for (const question of [TREE, LIST]) {
    reads.push(...(await measureQuestion(question, contestants, rounds)))
    log(`  ${question.name}`)
  }
  return sectionOf(reads)
}

/** A tree of 5,000 objects, and others next to it. Returns its id. */
async function fill(databaseUrl: string): Promise<string> {
  await using server = await startServer({ databaseUrl })
  const { ids } = await runTrees(server.client, 1, ITEMS)
  await runTrees(server.client, OTHERS.trees, OTHERS.items)
  await execute(databaseUrl, RELATIONS_VIEW, 'vacuum analyze')
  return ids[0] as string
}

const ours = (server: BenchServer, rootId: string): Contestant => ({
  name: 'Phaseline',
  target: (question) => ({
    port: Number(new URL(server.origin).port),
    headers: { authorization: `Bearer ${server.token}` },
    body: bodyOf(question.phaseline, question.variables(rootId)),
  }),
  read: () => server.read(),
})
const theirs = (peer: Peer, rootId: string): Contestant => ({
  name: 'PostGraphile',
  target: (question) => ({
    port: peer.port,
    headers: {},
    body: bodyOf(question.postgraphile, question.variables(rootId)),
  }),
  read: () => peer.read(),
})

/** Both on the same database at the same time, asked in turns. Throws when they do not answer the same. */
async function measureQuestion(
  question: Question,
  contestants: readonly Contestant[],
  rounds: number,
): Promise<readonly Read[]> {
  const answers = await Promise.all(contestants.map(({ target }) => ask<Lists>(target(question))))
  if (new Set(answers.map(comparable)).size !== 1) throw new Error(`${question.name}: the answers differ`)
  const measured = contestants.map((): Measured[] => [])
  // The first round warms both up.
  for (let round = 0; round <= rounds; round++) {
    for (const [i, contestant] of contestants.entries()) {
      const result = await measureRound(question, contestant)
      if (round > 0) measured[i]?.push(result)
    }
  }
  const reads: Read[] = []
  for (const [i, contestant] of contestants.entries()) {
    const runs = measured[i] ?? []
    reads.push({
      question,
      contestant: contestant.name,
      requestsPerSecond: median(runs.map((r) => r.requestsPerSecond)),
      cpuMs: median(runs.map((r) => r.cpuMs)),
      statements: await countStatements(question, contestant),
      kilobytes: JSON.stringify(answers[i]).length / 1_000,
    })
  }
  return reads
}

async function measureRound(question: Question, { target, read }: Contestant): Promise<Measured> {
  const before = await read()
  const { requests, ms } = await load(target(question), question.connections, ROUND_MS)
  const { cpuMs } = await read()
  return { requestsPerSecond: (requests / ms) * 1_000, cpuMs: (cpuMs - before.cpuMs) / requests }
}

/** Statements for one request, without those that the server sends anyway. */
async function countStatements(question: Question, { target, read }: Contestant): Promise<number> {
  const since = performance.now()
  const first = await read()
  for (let i = 0; i < COUNTED; i++) await ask(target(question))
  const second = await read()
  const ms = performance.now() - since
  await new Promise((resolve) => setTimeout(resolve, ms))
  const third = await read()
  return (second.statements - first.statements - (third.statements - second.statements)) / COUNTED
}

interface Peer extends AsyncDisposable {
  readonly port: number
  read(): Promise<Reading>
}

async function startPostgraphile(databaseUrl: string): Promise<Peer> {
  const launched = forkModule(join(import.meta.dirname, '../peers/postgraphile.ts'), {
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      DATABASE_URL: databaseUrl,
      NODE_ENV: 'production',
      GRAPHILE_ENV: 'production',
    },
  })
  const { child } = launched
  const [{ port }] = (await once(child, 'message')) as [{ port: number }]
  return {
    port,
    async read() {
      const answer = once(child, 'message')
      child.send('read')
      return (await answer)[0] as Reading
    },
    [Symbol.asyncDispose]: () => disconnect(launched),
  }
}

async function execute(databaseUrl: string, ...statements: readonly string[]): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  for (const statement of statements) await client.query(statement)
  await client.end()
}

function sectionOf(reads: readonly Read[]): Section {
  const ratio = ({ name }: Question): string => {
    const [a, b] = reads.filter(({ question }) => question.name === name)
    return a && b ? (a.requestsPerSecond / b.requestsPerSecond).toFixed(2) : '–'
  }
  return {
    title: 'read: a whole tree, and a page of a list',
    prose: PROSE,
    table: {
      columns: ['question', 'contestant', 'requests/s', 'SQL statements', 'server CPU, ms/request', 'answer, kB'],
      rows: reads.map(({ question, contestant, requestsPerSecond, statements, cpuMs, kilobytes }) => [
        question.name,
        contestant,
        requestsPerSecond,
        statements.toFixed(1),
        cpuMs,
        kilobytes,
      ]),
    },
    ratios: [TREE, LIST].map((question) => `${question.name}: ${ratio(question)}× of PostGraphile’s requests.`),
  }
}

const PROSE = `
The same question to both, on the same tables of the same database, over HTTP, for ${ROUND_MS / 1_000} seconds a round in turns;
that both answer the same is checked first. The tree has 5,000 objects with their parents and all relations (2 requests at
a time); next to it there are ${OTHERS.trees} trees of ${OTHERS.items}. The list is a page of 50 deploy items that have
succeeded, by name, with their total (8 at a time).

- **Phaseline** checks the token, the cost of the question, and what the viewer may see.
- **PostGraphile** 5 with its Amber preset under grafserv, allowed to filter by columns without an index, with a view for
  the relations; nobody's rights are checked.
`
