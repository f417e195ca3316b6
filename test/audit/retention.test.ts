import { pino } from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createAuditPruner } from '../../src/audit/pruner.ts'
import { verifyChain } from '../../src/chain-hash.ts'
import type { AuditFilter } from '../../src/core/audit.ts'
import { auditAnchor, auditBetween, auditHead } from '../../src/store/audit.ts'
import { type Api, createApi } from '../graphql/api.ts'
import { present } from '../testkit/ask.ts'
import { gql } from '../testkit/gql.ts'

const DAY_MS = 24 * 60 * 60 * 1_000
const ALL: AuditFilter = {
  ...{ projects: null, principalId: null, tokenId: null, operation: null, project: null },
  ...{ objectId: null, outcome: null, since: null, until: null },
}
const CHAIN = gql('{ auditChain { anchor { sequence hash } since head { sequence hash } } }')

let api: Api
beforeAll(async () => {
  api = await createApi()
})
afterAll(() => api[Symbol.asyncDispose]())

/** Writes events that happened this many days ago. */
async function write(count: number, daysAgo: number): Promise<void> {
  const { pool, audit } = api.world
  await pool.query(
    `insert into audit_event (id, at, operation, outcome, fields, count)
      select gen_random_uuid(), $2::timestamptz, 'test', 'DONE', '{}', 1 from generate_series(1, $1)`,
    [count, new Date(api.world.clock.now().getTime() - daysAgo * DAY_MS)],
  )
  await audit.settle()
}
async function verify() {
  const { pool } = api.world
  const [anchor, head] = [await auditAnchor(pool), await auditHead(pool)]
  const events = await auditBetween(pool, ALL, { after: anchor.sequence, through: head.sequence, limit: 10_000 })
  return { ...verifyChain(anchor, events), count: events.length }
}
async function prune(days: number): Promise<void> {
  const { pool, clock } = api.world
  const logger = pino({ level: 'silent' })
  await using pruner = createAuditPruner({ pool, system: clock, logger, retentionMs: days * DAY_MS })
  await pruner.prune()
}

test('old events go in steps, what is left still proves to be whole, and the chain goes on', async () => {
  await write(2_500, 400)
  await write(3, 100)
  // Chained behind an older one, it is kept until those before it may go, too.
  await write(1, 400)
  const before = await auditHead(api.world.pool)
  await prune(365)
  expect(await verify()).toMatchObject({ sequence: before.sequence, count: 4 })
  const { auditChain } = await api.query(CHAIN)
  expect(present(auditChain).anchor.sequence).toBe(2_500)
  expect(present(auditChain).head.hash).toBe(before.hash.toString('hex'))
  expect(Date.parse(present(auditChain?.since))).toBe(api.world.clock.now().getTime() - 100 * DAY_MS)
  await write(2, 0)
  expect(await verify()).toMatchObject({ sequence: before.sequence + 2, count: 6 })
})

test('an empty chain goes on from its anchor', async () => {
  const before = await auditHead(api.world.pool)
  await prune(-1)
  expect(await verify()).toMatchObject({ sequence: before.sequence, count: 0 })
  expect(present((await api.query(CHAIN)).auditChain).since).toBeNull()
  await write(1, 0)
  expect(await verify()).toMatchObject({ sequence: before.sequence + 1, count: 1 })
})

test.each([
  `update audit_anchor set sequence = sequence - 1`,
  `update audit_anchor set sequence = sequence + 1`,
  `update audit_anchor set sequence = sequence + 1, hash = '\\x00'`,
  'delete from audit_anchor',
  'truncate audit_anchor',
])('the anchor only moves on to an event of the chain: %s', async (sql) => {
  await expect(api.world.pool.query(sql)).rejects.toThrow('only moves on to an event of the chain')
})
