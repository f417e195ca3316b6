import { expect, test } from 'vitest'
import { create, items, show } from '../testkit/mutations.ts'
import { freePort } from '../testkit/redis.ts'
import { startSharedServer } from '../testkit/server.ts'
import { until } from '../testkit/wait.ts'

test('a server that starts while Redis is away serves and drives all the same', async () => {
  await using server = await startSharedServer({ env: { REDIS_URL: `redis://127.0.0.1:${await freePort()}` } })
  const id = await create(server.client, 'tree', items(5))
  await until(async () => (await show(server.client, id))?.finished, { what: 'the tree has ended' })
  expect(await show(server.client, id)).toMatchObject({ phase: 'SUCCEEDED' })
  let seen = 0
  for await (const { changes } of server.client.followPhases({ after: 0 })) {
    seen += changes.length
    if (changes.some((change) => change.objectId === id && change.to === 'SUCCEEDED')) break
  }
  expect(seen).toBeGreaterThan(20)
  expect(await server.stop()).toBe(0)
})
