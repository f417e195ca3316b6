import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type AgentQuery, countAgents, listAgents } from '../../src/store/loaders/agents.ts'
import { insertPrincipal, type PrincipalRow } from '../../src/store/principals.ts'
import { findToken, insertToken, listTokens } from '../../src/store/tokens.ts'
import { noteAgent } from '../../src/store/work.ts'
import { createTestDatabase } from '../testkit/postgres.ts'

const NOW = new Date('2026-11-23T00:00:00Z')
const LISTS = [null, [], ['a', 'b']]
const idOf = (n: number): string => `00000000-0000-7000-8000-00000000000${n}`

test('a principal for all is told from one for none', async () => {
  await using database = await createTestDatabase()
  const { pool } = database
  const principals = LISTS.map(
    (list, n): PrincipalRow => ({
      id: idOf(n),
      name: `principal-${n}`,
      actor: 'DEPLOYER',
      administrator: false,
      grants: [{ role: 'AGENT', projectId: null }],
      ...{ types: list, targets: list },
      createdAt: NOW,
      generation: 1,
      identity: null,
    }),
  )
  for (const principal of principals) {
    await insertPrincipal(pool, principal)
    const token = { id: principal.id, principalId: principal.id, name: 'one', createdAt: NOW }
    await insertToken(pool, { ...token, expiresAt: null, derivedFrom: null }, Buffer.from(principal.name))
  }
  expect(
    (await listTokens(pool, { projects: null }, { limit: 10, backward: false, after: null, before: null })).map(
      ({ principal }) => principal,
    ),
  ).toEqual(principals.toReversed())
  expect(await findToken(pool, Buffer.from('principal-0'))).toMatchObject({ principal: principals[0] })
})

test('an agent of any target is told from one of none, in pages of both directions', async () => {
  await using database = await createTestDatabase()
  const { pool } = database
  for (const [n, targets] of LISTS.entries())
    await noteAgent(pool, {
      ...{ id: idOf(n), principalId: idOf(9), name: 'agent', instance: `${n}`, actor: 'DEPLOYER', types: ['a'] },
      ...{ targets, targetSelector: null, now: NOW },
    })
  const all: AgentQuery = { projects: null, connected: null, since: NOW }
  const page = async (window: Partial<Parameters<typeof listAgents>[2]>, query = all) =>
    (await listAgents(pool, query, { limit: 2, backward: false, after: null, before: null, ...window })).map(
      ({ targets }) => targets,
    )
  expect(await page({})).toEqual([null, []])
  expect(await page({ after: idOf(0) })).toEqual([[], ['a', 'b']])
  expect(await page({ backward: true, before: idOf(2) })).toEqual([null, []])
  await pool.query(`update agent set seen_at = seen_at - interval '1 minute' where id <> $1`, [idOf(1)])
  for (const [connected, found] of [
    [true, [[]]],
    [false, [null, ['a', 'b']]],
  ] as const) {
    expect(await page({}, { ...all, connected })).toEqual(found)
    expect(await countAgents(pool, { ...all, connected })).toBe(found.length)
  }
})

test('no start waits for Prisma: it is imported where it is first used', () => {
  const src = join(import.meta.dirname, '../../src')
  const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.ts') && !file.startsWith('store/generated'),
  )
  const eager = files.filter((file) =>
    /^(import|export) (?!type\b)[^'"]*from '(@prisma\/|[^']*\/generated\/client\.ts)/m.test(
      readFileSync(join(src, file), 'utf8'),
    ),
  )
  expect(eager).toEqual([])
})
