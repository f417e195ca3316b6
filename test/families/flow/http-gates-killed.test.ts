import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createClient } from '../../../src/client/index.ts'
import { startAddresses } from '../../testkit/addresses.ts'
import { present } from '../../testkit/ask.ts'
import { gql } from '../../testkit/gql.ts'
import { create } from '../../testkit/mutations.ts'
import { createTestDatabase } from '../../testkit/postgres.ts'
import { seeded } from '../../testkit/seed.ts'
import { SECRET_KEY, startServer } from '../../testkit/server.ts'
import { soak } from '../../testkit/soak.ts'
import { until } from '../../testkit/wait.ts'

const GATES = gql(`query { objects(filter: { kinds: [DEPLOY_ITEM] }, first: 100) { edges { node {
  name phase history(last: 10) { edges { node { from to message requested } } }
} } } }`)

test('kill -9 of servers as addresses answer: each gate opens once', {
  timeout: soak(300_000, 1_500_000),
}, async () => {
  const random = seeded()
  await using stack = new AsyncDisposableStack()
  const { url, pool } = stack.use(await createTestDatabase(1))
  const addresses = stack.use(await startAddresses())
  const env = {
    ...{ DATABASE_URL: url, PHASELINE_SECRET_KEY: SECRET_KEY, PHASELINE_NOTIFICATION_NETWORKS: '127.0.0.0/8' },
  }
  const first = stack.use(await startServer({ env }))
  const servers = [first, stack.use(await startServer({ env, token: first.token }))]

  let kills = 0
  let killing: Promise<unknown> = Promise.resolve()
  /** Some time after an answer was sent: before it is read, before it is decided, or after. */
  const killSoon = (): void => {
    const server = servers[kills++ % servers.length]
    killing = Promise.all([
      killing,
      delay(random() * 30).then(async () => {
        await server?.kill()
        await server?.start()
      }),
    ])
  }
  const count = soak(10, 60)
  const names = Array.from({ length: count }, (_, i) => `gate-${i}`)
  for (const [i, name] of names.entries()) {
    addresses.answer(name, () => {
      if (addresses.asked(name).length < 2) return [503, {}, '']
      if (i % 3 === 0 && addresses.asked(name).length < 4) killSoon()
      return [200, {}, '']
    })
    const config = { http: { url: `${addresses.url}${name}`, until: 'status == 200', every: '1s' } }
    await create(first.client, name, { deployItems: [{ name, type: 'gate', config }] } as never)
  }
  const gates = async () => {
    await using client = createClient({ url: first.url, token: first.token })
    const { objects } = await client.query(GATES, {})
    return present(objects).edges.map(({ node }) => node)
  }
  const seen = await until(
    async () => {
      const all = await gates().catch(() => [])
      return all.length === count && all.every(({ phase }) => phase === 'SUCCEEDED') ? all : null
    },
    { what: 'all are open', instead: gates },
  )
  await killing
  expect(kills).toBeGreaterThan(2)
  for (const { history } of seen) {
    const ends = history.edges.map(({ node }) => node).filter(({ requested, from }) => !requested && from === 'INIT')
    expect(ends).toMatchObject([{ to: 'SUCCEEDED', message: 'It has answered 200.' }])
  }
  expect((await pool.query('select from gate_poll')).rows).toEqual([])
})
