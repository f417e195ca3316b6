import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { present } from '../../testkit/ask.ts'
import { gql } from '../../testkit/gql.ts'
import { create, show } from '../../testkit/mutations.ts'
import { seeded } from '../../testkit/seed.ts'
import { startServer } from '../../testkit/server.ts'
import { soak } from '../../testkit/soak.ts'
import { until } from '../../testkit/wait.ts'

const LIMIT = gql(
  `mutation { createLimit(input: { name: "db", max: 3, maxPerKey: 2 }) { ... on Limit { id } ... on Error { message } } }`,
)
const STATE = gql('{ limit(name: "db") { runningCount waitingCount } }')
const CHANGES = gql(`query ($first: Int!, $after: String) {
  phaseChanges(filter: { kinds: [DEPLOY_ITEM] }, first: $first, after: $after) {
    totalCount pageInfo { hasNextPage endCursor } edges { node { objectId name to rejected } }
  }
}`)

test('kill -9 of the server: what waits for a limit gets it, and no more run at once than it allows', {
  timeout: 400_000,
}, async () => {
  const random = seeded()
  await using server = await startServer()
  const { client } = server
  await client.query(LIMIT, {})
  const deployItems = Array.from({ length: 24 }, (_, i) => ({
    ...{ name: `${'ab'[i % 2]}-${i}`, type: 'mock', config: { delayMs: 200 } },
    limits: [{ limit: 'db', key: 'ab'[i % 2] }],
  }))
  const id = await create(client, 'tree', { deployItems })
  const isDone = async () => (await show(client, id))?.finished === true
  let met = 0
  for (let kills = 0; kills < soak(3, 15); kills += 1) {
    await delay(100 + random() * 400)
    if (!(await isDone())) met += 1
    await server.kill()
    await server.start()
  }
  await until(isDone, { what: 'the tree has come to its end' })
  expect(met).toBeGreaterThan(0)
  expect(await show(client, id)).toMatchObject({ phase: 'SUCCEEDED', error: null })
  await until(async () => present((await client.query(STATE, {})).limit).runningCount === 0, { what: 'it is free' })
  expect((await client.query(STATE, {})).limit).toEqual({ runningCount: 0, waitingCount: 0 })

  const { phaseChanges } = await client.query(CHANGES, { first: 500 })
  const running = new Map<string, string>()
  let most = 0
  for (const { node } of present(phaseChanges).edges) {
    if (node.rejected) continue
    if (node.to === 'PROGRESSING') running.set(node.objectId, node.name.slice(0, 1))
    else running.delete(node.objectId)
    const keys = [...running.values()]
    most = Math.max(most, keys.length)
    expect(keys.length).toBeLessThanOrEqual(3)
    expect(keys.filter((key) => key === 'a').length).toBeLessThanOrEqual(2)
    expect(keys.filter((key) => key === 'b').length).toBeLessThanOrEqual(2)
  }
  expect(most).toBe(3)
})
