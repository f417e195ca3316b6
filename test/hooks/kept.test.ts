import { afterAll, beforeAll, expect, test } from 'vitest'
import { loadDeliveriesOf, sweepDeliveries } from '../../src/store/hook-deliveries.ts'
import { hookSecretPlace, loadHookSecrets } from '../../src/store/hooks.ts'
import { reseal } from '../../src/store/reseal.ts'
import { createSealing } from '../../src/store/sealing.ts'
import { startTestApp } from '../testkit/app.ts'
import { gql } from '../testkit/gql.ts'
import { until } from '../testkit/wait.ts'
import { createWorld, SECRET_KEY, USER, type World } from '../testkit/world.ts'

let world: World
beforeAll(async () => {
  world = await createWorld()
  await world.projects.createProject(USER, { name: 'ci', workerTemplate: { command: ['true'] } })
})
afterAll(() => world[Symbol.asyncDispose]())

const SECRET = 'a secret that both sides have'
async function create(name: string): Promise<string> {
  const secrets = [{ name: 'one', value: SECRET }]
  const made = await world.services.hooks.createHook(USER, { project: 'ci', name, format: 'GENERIC', secrets })
  if (!made.ok) throw new Error(made.refusal.message)
  return made.objectId
}
const DAY = 86_400_000

test('ids are kept longer than bodies, and a hook keeps so much and no more', async () => {
  const [old, large, vain, unwanted] = await Promise.all(['old', 'large', 'vain', 'unwanted'].map(create))
  if (!old || !large || !vain || !unwanted) throw new Error('not created')
  const now = world.clock.now()
  let first = 0
  const add = async (hook: string, count: number, row: { ago?: number; outcome?: string; bytes?: number }) => {
    first += 20_000
    const at = new Date(now.getTime() - (row.ago ?? 0))
    await world.pool.query(
      `insert into hook_delivery (id, hook_id, at, outcome, once_key, headers, body, body_bytes, hops)
        select ('00000000-0000-7000-8000-' || lpad(to_hex(n + $6::int), 12, '0'))::uuid, $1, $2, $3, 'k' || (n + $6::int), '{}', 'x', $4, 0
        from generate_series(1, $5::int) n`,
      [hook, at, row.outcome ?? 'ACCEPTED', row.bytes ?? 1, count, first],
    )
  }
  await add(old, 2, { ago: 15 * DAY })
  await add(old, 3, { ago: 4 * DAY })
  await add(old, 4, { ago: 2 * DAY })
  await add(large, 5, { bytes: 20 * 1_024 * 1_024 })
  await add(vain, 1_200, { outcome: 'REFUSED' })
  await add(unwanted, 10_600, { outcome: 'FILTERED' })
  while (await sweepDeliveries(world.pool, now));
  const window = { limit: 20_000, backward: false, after: null, before: null }
  const found = await loadDeliveriesOf(world.pool, [old, large, vain, unwanted], window)
  expect([old, large, vain, unwanted].map((hook) => found.get(hook)?.length)).toEqual([7, 5, 1_000, 10_000])
  const { rows } = await world.pool.query(
    'select hook_id as id, count(body)::int as bodies from hook_delivery group by 1',
  )
  const bodies = new Map(rows.map(({ id, bodies }) => [id, bodies]))
  expect([old, large, vain].map((hook) => bodies.get(hook))).toEqual([4, 3, 1_000])
  // The newest stay.
  const { rows: kept } = await world.pool.query(
    'select body is not null as kept from hook_delivery where hook_id = $1 order by id desc',
    [large],
  )
  expect(kept.map((row) => row.kept)).toEqual([true, true, true, false, false])
})

test('a hook is deleted with more deliveries than one statement removes', async () => {
  const id = await create('crowded')
  await world.pool.query(
    `insert into hook_delivery (id, hook_id, at, outcome, headers, body_bytes, hops)
      select ('00000000-0000-7000-9000-' || lpad(to_hex(n), 12, '0'))::uuid, $1, now(), 'ACCEPTED', '{}', 0, 0 from generate_series(1, 1700) n`,
    [id],
  )
  expect((await world.services.hooks.deleteHook(USER, { id })).ok).toBe(true)
  const { rows } = await world.pool.query('select from hook_delivery where hook_id = $1', [id])
  expect(rows).toEqual([])
})

test('secrets of hooks are resealed where they are sealed for', async () => {
  const id = await create('resealed')
  const NEW = Buffer.alloc(32, 'n')
  const both = createSealing([NEW, SECRET_KEY], world.clock)
  const { resealed, isComplete } = await reseal(world.pool, both, 1_000)
  expect([resealed > 0, isComplete]).toEqual([true, true])
  const [secret] = (await loadHookSecrets(world.pool, [id])).get(id) ?? []
  const { rows } = await world.pool.query('select project_id as "projectId" from hook where id = $1', [id])
  const place = hookSecretPlace({ projectId: rows[0].projectId, ownerId: id, name: 'one' })
  const after = createSealing([NEW], world.clock)
  expect(secret && after.open(place, secret.sealed)).toBe(SECRET)
  expect(secret && after.open({ ...place, name: 'hook/other/one' }, secret.sealed)).toBe(null)
})

test('each event of a batch counts for the rate of its hook', async () => {
  await using app = await startTestApp({ env: { PHASELINE_MAX_DELIVERIES_PER_SECOND_PER_HOOK: '1' } })
  const secrets = [{ name: 'one', value: SECRET }]
  await app.client.query(
    gql(`mutation ($input: CreateHookInput!) { createHook(input: $input) { __typename ... on Error { message } } }`),
    { input: { name: 'batches', format: 'CLOUDEVENTS', secrets, filter: 'false' } },
  )
  const event = (id: number) => ({ specversion: '1.0', type: 't', source: '/a', id: String(id) })
  const headers = { authorization: `Bearer ${SECRET}`, 'content-type': 'application/cloudevents-batch+json' }
  const body = JSON.stringify(Array.from({ length: 20 }, (_, i) => event(i)))
  const post = () => fetch(`${app.origin}/hooks/default/batches`, { method: 'POST', headers, body })
  expect([(await post()).status, (await post()).status]).toEqual([200, 429])
})

test('a hook has a rate of its own, which requests without its secret do not use up', async () => {
  await using app = await startTestApp({ env: { PHASELINE_MAX_DELIVERIES_PER_SECOND_PER_HOOK: '1' } })
  const input = {
    name: 'rated',
    format: 'GENERIC' as const,
    secrets: [{ name: 'one', value: SECRET }],
    filter: 'false',
  }
  await app.client.query(
    gql(`mutation ($input: CreateHookInput!) { createHook(input: $input) { __typename ... on Error { message } } }`),
    { input },
  )
  const post = (token: string) =>
    fetch(`${app.origin}/hooks/default/rated`, {
      ...{ method: 'POST', headers: { authorization: `Bearer ${token}` }, body: '{}' },
    })
  for (let i = 0; i < 20; i += 1) expect((await post('another')).status).toBe(401)
  const since = performance.now()
  let accepted = 0
  const refused = await until(
    async () => {
      const response = await post(SECRET)
      if (response.status === 200) accepted += 1
      return response.status === 429 ? response : null
    },
    { what: 'it has used up its rate' },
  )
  expect(accepted).toBeGreaterThanOrEqual(5)
  // On a slow machine requests come back while it sends them.
  expect(accepted).toBeLessThanOrEqual(5 + (performance.now() - since) / 1_000)
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  expect(await refused.json()).toMatchObject({
    errors: [
      { message: expect.stringContaining('One hook has 1 requests a second'), extensions: { code: 'RATE_LIMITED' } },
    ],
  })
})
