import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { Client, PhaseChange } from '../../src/client/index.ts'
import { present } from '../testkit/ask.ts'
import { gql } from '../testkit/gql.ts'
import { expectLegal } from '../testkit/legal-log.ts'
import { create, remove, show } from '../testkit/mutations.ts'
import { seeded } from '../testkit/seed.ts'
import { startServer, type TestServer } from '../testkit/server.ts'
import { soak } from '../testkit/soak.ts'
import { until } from '../testkit/wait.ts'

const random = seeded()

const ITEMS = soak(80, 200)
const KILLS = soak(2, 10)

const item = (i: number) => ({
  name: `item-${i}`,
  type: 'mock',
  // Layers of twenty, so that the tree takes a while and waits for itself.
  dependsOn: i < 20 ? [] : [`item-${i - 20}`],
  config: { delayMs: 250, deleteDelayMs: 250, exports: { n: i } },
})

/**
 * Kills the server at random moments, so many times; then waits for the end. Returns how many of the kills met the tree on
 * its way: those are the ones that count. The last ones may not, where this process gets its turn late.
 */
async function killUntil(server: TestServer, done: () => Promise<boolean>): Promise<number> {
  let met = 0
  for (let kills = 0; kills < KILLS; kills++) {
    await delay(20 + random() * 300)
    if (!(await done())) met += 1
    await server.kill()
    await server.start()
  }
  await until(() => done(), { what: 'the tree has come to its end' })
  return met
}

async function wholeLog(client: Client): Promise<readonly PhaseChange[]> {
  const { phaseChanges } = await client.query(gql('{ phaseChanges(first: 1) { totalCount } }'))
  const changes: PhaseChange[] = []
  for await (const batch of client.followPhases({ after: 0 })) {
    changes.push(...batch.changes)
    if (changes.length >= present(phaseChanges?.totalCount)) break
  }
  return changes
}

test(`kill -9 of the server at random moments of a tree of ${ITEMS} items, and of its deletion`, {
  timeout: 400_000,
}, async () => {
  await using server = await startServer()
  const { client } = server
  const spec = { deployItems: Array.from({ length: ITEMS }, (_, i) => item(i)) }
  const id = await create(client, 'tree', spec)
  expect(await killUntil(server, async () => (await show(client, id))?.finished === true)).toBeGreaterThan(0)
  expect(await show(client, id)).toMatchObject({ phase: 'SUCCEEDED', error: null })

  const built = await wholeLog(client)
  expectLegal(built)
  const succeeded = built.filter(
    (change) => change.kind === 'DEPLOY_ITEM' && change.to === 'SUCCEEDED' && !change.rejected,
  )
  expect(new Set(succeeded.map((change) => change.name)).size).toBe(ITEMS)

  await remove(client, id)
  expect(await killUntil(server, async () => (await show(client, id)) === null)).toBeGreaterThan(0)
  const all = await wholeLog(client)
  expectLegal(all)
  const gone = all.filter((change) => change.to === 'GONE')
  expect(gone.length).toBe(ITEMS + 2)
})
