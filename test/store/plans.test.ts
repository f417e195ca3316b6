import type { Pool, PoolClient } from 'pg'
import { expect, test } from 'vitest'
import { acquire, release } from '../../src/families/operations/store/locks.ts'
import { declaredStatements } from '../../src/store/statement.ts'
import { within } from '../families/operations/lock-crowd.ts'
import { accepted, addEvent, RUNTIME, runAll, succeeded } from '../testkit/pipelines.ts'
import { createWorld, DEPLOYER, item, USER, type World } from '../testkit/world.ts'

/** Tables that grow and shrink faster than statistics of them are taken. */
const QUEUES = ['object', 'work', 'wake', 'lock', 'edge', 'limit_ticket']
/** They are to go through all there is. */
const THOROUGH = ['due-roots wake', 'wake-lock-holders lock', 'drop-stale-limit-tickets limit_ticket']
const HOT = [
  ...['lock-root', 'load-nodes', 'load-named', 'take-wakes', 'due-objects', 'next-due'],
  ...['find-candidates', 'renew-leases-skip', 'count-edges-to_id', 'load-dependents'],
  ...['take-locks', 'hold-locks', 'grant-locks'],
  ...[
    'next-slots',
    'grant-slots',
    'wake-next-limited-slots',
    'take-limit-tickets',
    'grant-limits',
    'wake-limit-tickets',
  ],
]

interface PlanNode {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Index Name'?: string
  readonly 'Index Cond'?: string
  readonly 'TID Cond'?: string
  readonly Filter?: string
  readonly Plans?: readonly PlanNode[]
}

const nodesOf = (plan: PlanNode): readonly PlanNode[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)]
/** From end to end, or all children of an object for the one of a name. */
const isUnbounded = (node: PlanNode) =>
  node['Node Type'].includes('Scan') &&
  QUEUES.includes(node['Relation Name'] ?? '') &&
  ((node['Index Cond'] ?? node['TID Cond']) === undefined || /\(name [=<>]/.test(node.Filter ?? ''))

interface Judged {
  /** Names of the prepared statements. */
  readonly names: readonly string[]
  /** Tables that they read from end to end. */
  readonly thorough: readonly string[]
}
async function judge(pool: Pool): Promise<Judged> {
  const clients = await Promise.all(Array.from({ length: pool.totalCount }, () => pool.connect()))
  try {
    const judged = await Promise.all(clients.map(judgeOne))
    const all = (of: keyof Judged) => [...new Set(judged.flatMap((one) => one[of]))].sort()
    return { names: all('names'), thorough: all('thorough') }
  } finally {
    for (const client of clients) client.release()
  }
}

async function judgeOne(client: PoolClient): Promise<Judged> {
  // As of those connections whose plans are made once.
  await client.query('set enable_bitmapscan = off')
  const { rows } = await client.query<{ name: string; statement: string }>(
    `select name, statement from pg_prepared_statements where statement ~* '^(with|select|\\(select|insert|update|delete) '`,
  )
  const thorough: string[] = []
  for (const { name, statement } of rows) {
    const explained = await client.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
      `explain (generic_plan, format json) ${statement}`,
    )
    const [top] = explained.rows[0]?.['QUERY PLAN'] ?? []
    for (const node of nodesOf(top?.Plan as PlanNode).filter(isUnbounded)) {
      const what = `${name} ${node['Relation Name']}`
      if (!THOROUGH.includes(what)) thorough.push(`${what}: ${node['Node Type']} ${node['Index Name'] ?? ''}`)
    }
  }
  return { names: rows.map(({ name }) => name), thorough }
}

/** Puts trees through their whole lives: created, claimed, renewed, reported, timed out, repeated, cancelled, deleted. */
async function live(world: World): Promise<void> {
  const { clock, engineHost } = world
  const spec = { deployItems: [item('a'), item('b', ['a']), item('c')] }
  const id = await world.create('shop', spec)
  const claimed = await world.claim(2)
  await engineHost.agents.renew(
    DEPLOYER,
    claimed.map(({ fence }) => fence),
    60_000,
  )
  for (const { fence } of claimed) await world.report({ fence, phase: 'SUCCEEDED' })
  await world.work()
  await world.reconcile(id, 'FORCE')
  clock.advance(3_600_000)
  await world.settle()
  await world.recoverStalled()
  await world.work()
  const other = await world.create('other', spec)
  await world.cancel(other)
  await world.work()
  await world.remove(id)
  await world.work()
  await world.create('kept', { deployItems: Array.from({ length: 10 }, (_, i) => item(`item-${i}`)) })
  await world.work()
  await world.recoverStalled()
}

/** Workers and items wait for a limit and get it. */
async function limit(world: World): Promise<void> {
  const limits = [{ limit: 'hosts' }]
  await accepted(world.services.flow.createLimit(USER, { project: 'default', name: 'hosts', max: 1 }))
  const workerTemplate = { command: ['true'] }
  await accepted(world.projects.updateProject(USER, { name: 'default', workerTemplate, limits: { maxWorkers: 1 } }))
  for (let n = 0; n < 3; n++) await addEvent(world, 'default')
  await accepted(world.projects.updateProject(USER, { name: 'default', limits: {} }))
  const asking = { ...workerTemplate, limits }
  await accepted(world.projects.updateProject(USER, { name: 'default', workerTemplate: asking }))
  for (let n = 0; n < 2; n++) await addEvent(world, 'default')
  for (const { fence, action } of await runAll(world))
    if (action === 'START') await world.report({ fence, ...succeeded }, RUNTIME)
  await world.create('limited', { deployItems: [{ ...item('a'), limits }] })
  for (const { fence, action } of await runAll(world))
    if (action === 'START') await world.report({ fence, ...succeeded }, RUNTIME)
  await world.work()
  await world.recoverStalled()
}

/** One has a lock, another one waits for it and gets it. */
async function lock({ pool, clock }: World): Promise<void> {
  const { rows } = await pool.query<{ id: string }>(`select id from object where kind = 'DEPLOY_ITEM' limit 2`)
  const now = clock.now()
  const ask = (objectId = '') =>
    within(pool, (client) => acquire(client, { objectId, locks: [{ resource: 'disk', mode: 'EXCLUSIVE' }], now }))
  const [first, second] = rows.map(({ id }) => id)
  expect([await ask(first), await ask(second), await ask(second)]).toEqual([true, false, false])
  expect(await within(pool, (client) => release(client, [first ?? ''], now))).toMatchObject([{ objectId: second }])
  await within(pool, (client) => release(client, [second ?? ''], now))
}

test('no statement scans a whole queue, whenever its plan was made', async () => {
  await using world = await createWorld({ ownDatabase: true })
  await live(world)
  await lock(world)
  await limit(world)
  const { pool } = world
  const { names, thorough } = await judge(pool)
  expect(names).toEqual(expect.arrayContaining(HOT))
  expect(thorough).toEqual([])
  const declared = new Set(declaredStatements().map(({ name }) => name))
  expect(names.filter((name) => !declared.has(name))).toEqual([])
  // As the queue is when there is nothing to do.
  await pool.query('vacuum analyze')
  expect((await judge(pool)).thorough).toEqual([])
})
