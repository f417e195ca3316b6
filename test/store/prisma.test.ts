import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { listAgents } from '../../src/store/loaders/agents.ts'
import { deleteToken, findToken, insertToken, listTokens, type TokenRow } from '../../src/store/tokens.ts'
import { noteAgent } from '../../src/store/work.ts'
import { createTestDatabase } from '../testkit/postgres.ts'

const NOW = new Date('2026-11-23T00:00:00Z')
const LISTS = [null, [], ['a', 'b']]
const idOf = (n: number): string => `00000000-0000-7000-8000-00000000000${n}`

test('Prisma tells a token for all from a token for none', async () => {
  await using database = await createTestDatabase()
  const { pool } = database
  const tokens = LISTS.map(
    (list, n): TokenRow => ({
      id: idOf(n),
      name: `token-${n}`,
      role: 'AGENT',
      actor: 'DEPLOYER',
      ...{ projects: list, types: list, targets: list },
      createdAt: NOW,
      expiresAt: null,
    }),
  )
  for (const token of tokens) await insertToken(pool, token, Buffer.from(token.name))
  expect(await listTokens(pool)).toEqual(tokens.toReversed())
  expect(await findToken(pool, Buffer.from('token-0'))).toMatchObject(tokens[0] as TokenRow)
  expect([await deleteToken(pool, idOf(0)), await deleteToken(pool, idOf(0))]).toEqual([true, false])
})

test('Prisma tells an agent of any target from an agent of none, in pages of both directions', async () => {
  await using database = await createTestDatabase()
  const { pool } = database
  for (const [n, targets] of LISTS.entries())
    await noteAgent(pool, {
      ...{ id: idOf(n), name: 'agent', instance: `${n}`, actor: 'DEPLOYER', types: ['a'] },
      ...{ targets, now: NOW },
    })
  const page = async (window: Partial<Parameters<typeof listAgents>[1]>) =>
    (await listAgents(pool, { limit: 2, backward: false, after: null, before: null, ...window })).map(
      ({ targets }) => targets,
    )
  expect(await page({})).toEqual([null, []])
  expect(await page({ after: idOf(0) })).toEqual([[], ['a', 'b']])
  expect(await page({ backward: true, before: idOf(2) })).toEqual([null, []])
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
