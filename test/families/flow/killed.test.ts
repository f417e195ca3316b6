import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { readDatabase } from '../../chaos/collect.ts'
import type { Evidence, TicketChange } from '../../chaos/evidence.ts'
import { PROMISES, type PromiseName } from '../../chaos/promises/index.ts'
import { RECORD_FLOW } from '../../chaos/record-flow.ts'
import { ask } from '../../testkit/ask.ts'
import { gql } from '../../testkit/gql.ts'
import { mulberry32 } from '../../testkit/mulberry32.ts'
import { create } from '../../testkit/mutations.ts'
import { createTestDatabase } from '../../testkit/postgres.ts'
import { SEED } from '../../testkit/seed.ts'
import { SECRET_KEY, startServer } from '../../testkit/server.ts'
import { soak } from '../../testkit/soak.ts'
import { until } from '../../testkit/wait.ts'
import { jain } from './jain.ts'

const LIMIT = gql(`mutation ($input: CreateLimitInput!) {
  answer: createLimit(input: $input) { ... on Limit { id } ... on Error { message } }
}`)
const PAUSE = gql(`mutation ($input: PauseLimitInput!) {
  answer: pauseLimit(input: $input) { ... on Limit { id } ... on Error { message } }
}`)
const RESUME = gql(`mutation ($input: ResumeLimitInput!) {
  answer: resumeLimit(input: $input) { ... on Limit { id } ... on Error { message } }
}`)

const SERVERS = 3
const KEYS = 1_000
const BOUNDS = { max: 40, maxPerKey: 1 }
/** Items of a tree, each with a key of its own: two trees have all keys. */
const ITEMS = KEYS / 2
const TREES = soak(8, 40)
/** The long form has a million grants. */
const ROUNDS = soak(1, 1_000_000 / (40 * ITEMS))
/** The promises of the ledger of chaos runs that are about limits, and about trees in general. */
const JUDGED: readonly PromiseName[] = [
  'no more hold a limit than it allows',
  'limits are given in their order',
  'the log is dense',
  'every change is in its machine',
  'everything comes to its end',
  'nothing is late',
  'tables and log agree',
  'finished work is closed',
]

test.each(Array.from({ length: ROUNDS }, (_, round) => round))(
  'three servers that are killed give a limit of 1,000 keys in its order, and never more of it (%i)',
  { timeout: soak(300_000, 1_200_000) },
  async (round) => {
    const random = mulberry32(SEED + round)
    await using stack = new AsyncDisposableStack()
    const { url, pool } = stack.use(await createTestDatabase(2))
    const env = { DATABASE_URL: url, PHASELINE_SECRET_KEY: SECRET_KEY }
    const first = stack.use(await startServer({ env }))
    const { client, token } = first
    const servers = [first]
    while (servers.length < SERVERS) servers.push(stack.use(await startServer({ env, token })))
    await pool.query(RECORD_FLOW)
    const { id } = await ask(client, LIMIT, { name: 'db', ...BOUNDS })
    // All keys wait before the first one starts.
    await ask(client, PAUSE, { id })
    const roots: string[] = []
    for (let tree = 0; tree < TREES; tree++) {
      const deployItems = Array.from({ length: ITEMS }, (_, i) => ({
        ...{ name: `item-${i}`, type: 'mock', config: {} },
        // Each key has one item that comes first.
        limits: [{ limit: 'db', key: `${(tree % 2) * ITEMS + i}`, priority: tree < 2 ? 5 : 0 }],
      }))
      roots.push(await create(client, `tree-${tree}`, { deployItems }))
    }
    const count = async (sql: string): Promise<number> =>
      (await pool.query<{ n: number }>(`select count(*)::integer as n from ${sql}`)).rows[0]?.n ?? 0
    await until(async () => (await count('limit_ticket')) === TREES * ITEMS, { what: 'all of them wait' })
    const since = performance.now()
    await ask(client, RESUME, { id })

    const isDone = async () => (await count("object where kind = 'INSTALLATION' and phase = 'SUCCEEDED'")) === TREES
    let kills = 0
    while (!(await isDone())) {
      // The short form has all its grants within a few seconds.
      await delay(soak(300, 2_000) + random() * soak(700, 3_000))
      if (await isDone()) break
      const server = servers[kills++ % SERVERS]
      await server?.kill()
      await server?.start()
    }
    const seconds = (performance.now() - since) / 1_000
    expect(kills).toBeGreaterThan(1)
    await until(
      async () =>
        (await count('limit_ticket')) + (await count('wake')) + (await count('log_batch where first_seq is null')) ===
        0,
      { what: 'all is at rest' },
    )

    const found = await readDatabase(async (sql) => (await pool.query(sql)).rows)
    const set = { mutation: 'updateLimit', id, value: BOUNDS, askedMs: 0, answeredMs: 0 }
    const evidence = { ...found, mutations: [set], faults: [] } as unknown as Evidence
    for (const name of JUDGED)
      expect({ name, found: PROMISES[name](evidence).slice(0, 5) }).toEqual({ name, found: [] })
    const grants = found.flow.filter((one): one is TicketChange => one.did === 'GRANT')
    expect(grants).toHaveLength(TREES * ITEMS)
    // While all keys still wait: about half of the grants after those that come first.
    const turns = Math.ceil((TREES - 2) / 4)
    const usual = grants.filter(({ priority }) => priority === 0).slice(0, turns * KEYS)
    const byKey = Map.groupBy(usual, ({ key }) => key)
    // Keys that a killed server has woken are granted a little later, and others before their turn: in each kill as many as may hold the
    // limit at once. The promises above judge every grant.
    const disturbed = Math.min(kills * BOUNDS.max, KEYS / 4)
    const shares = Array.from({ length: KEYS }, (_, key) => byKey.get(`${key}`)?.length ?? 0)
      .toSorted((a, b) => a - b)
      .slice(disturbed, KEYS - disturbed)
    console.log(
      `${grants.length} grants in ${seconds.toFixed(1)} s, ${kills} kills, Jain's index ${jain(shares).toFixed(4)}`,
    )
    expect(jain(shares)).toBeGreaterThanOrEqual(0.99)
  },
)
