import { expect, test } from 'vitest'
import { type Api, createApi } from '../graphql/api.ts'
import { startTestApp } from '../testkit/app.ts'
import { ask, present } from '../testkit/ask.ts'
import { MUTATIONS } from '../testkit/documents.ts'
import { gql } from '../testkit/gql.ts'
import { createTestDatabase } from '../testkit/postgres.ts'
import { until } from '../testkit/wait.ts'
import { item } from '../testkit/world.ts'
import { commandLine } from './command.ts'

/** The verdict as scripts, people and other viewers get it, over the facts of a real server. */

interface Shown {
  readonly verdict: string
  readonly causes: readonly { readonly cause: string; readonly subject: string; readonly count: number }[]
}
const causesOf = ({ out }: { readonly out: string }) =>
  (JSON.parse(out) as Shown).causes.map(({ cause, subject, count }) => `${cause} ${subject} ${count}`)

const MINUTE = 60_000
const rare = (name: string, dependsOn: readonly string[] = []) => ({ ...item(name, dependsOn), type: 'rare' })

async function lineOf(api: Api) {
  const { url } = await api.serve()
  return async (token: Parameters<Api['token']>[0] = {}) =>
    commandLine({ PHASELINE_URL: url, PHASELINE_TOKEN: await api.token(token) })
}

test('work that nobody takes, a failure, a wait and a timeout are causes with their commands, until they end', async () => {
  await using api = await createApi()
  const { world } = api
  const lines = await lineOf(api)
  const phaseline = await lines()
  expect(await phaseline('health')).toMatchObject({ code: 0, out: 'HEALTHY  0 causes\n' })

  await world.create('unserved', { deployItems: [rare('a'), rare('b'), rare('c', ['a'])] })
  expect(await phaseline('health')).toMatchObject({ code: 0 })
  world.clock.advance(MINUTE)
  const unhealthy = await phaseline('health')
  expect(unhealthy).toMatchObject({ code: 1 })
  expect(unhealthy.out).toMatch(
    /^UNHEALTHY {2}1 cause\n✗ no agent: default\/rare, for .*, 5 held up\n.*\n {2}Start an agent .*\n {2}phaseline agents --all .*\/agents\n$/,
  )
  // An agent takes it, and reports a failure.
  const [a, b] = (await world.claim(10, undefined, ['rare'], 10 * MINUTE)).toSorted((x, y) =>
    x.name < y.name ? -1 : 1,
  )
  const fence = present(a).fence
  await world.report({ fence, phase: 'FAILED', error: { code: 'BROKEN', message: 'It broke.' } })
  await world.create('waiting', { imports: [{ name: 'url' }], deployItems: [item('x')] })
  expect(causesOf(await phaseline('health --json'))).toEqual([])
  world.clock.advance(8.5 * MINUTE)
  // It is still there.
  await world.claim(1, undefined, ['rare'])
  const degraded = await phaseline('health --project default --json')
  expect(degraded).toMatchObject({ code: 5 })
  expect(causesOf(degraded)).toEqual(['MISSING_IMPORT waiting 1', 'DEADLINE_NEAR unserved/deploy-items/b 1'])

  await world.setData('url', 'http://here')
  await world.report({ fence: present(b).fence, phase: 'SUCCEEDED' })
  await world.work()
  const failed = await phaseline('health -o json')
  expect(causesOf(failed)).toContain('FAILED unserved 1')
  expect(failed.out).toContain('a: BROKEN: It broke.')
  const { command } = (JSON.parse(failed.out) as { causes: { command: string }[] }).causes[0] as { command: string }
  expect(await phaseline(command.replace(/^phaseline /, ''))).toMatchObject({ code: 0 })

  // Another project has none of it, and does not exist for others.
  await world.pool.query(
    `insert into project (id, name, created_at, updated_at) values (gen_random_uuid(), 'quiet', now(), now())`,
  )
  expect(await phaseline('health --project quiet')).toMatchObject({ code: 0 })
  const other = await lines({ name: 'eve', role: 'READER', projects: ['quiet'] })
  expect(await other('health')).toMatchObject({ code: 0 })
  expect(await other('health --project default')).toMatchObject({ code: 3 })
  expect(await phaseline('health --project none')).toMatchObject({ code: 3 })
})

test('a verdict over more objects than are read says so', async () => {
  await using api = await createApi()
  const phaseline = await (await lineOf(api))()
  await api.world.create('large', { deployItems: Array.from({ length: 200 }, (_, i) => rare(`r${i}`)) })
  expect(await phaseline('health')).toMatchObject({
    code: 0,
    out: 'HEALTHY  0 causes, of the trees that are open for longest\n',
  })
})

test('a deletion that failed needs a decision, a tree that was paused with work a person, and each is told once', async () => {
  await using api = await createApi()
  const { world } = api
  const phaseline = await (await lineOf(api))()
  const gone = await world.create('gone', { deployItems: [item('a')] })
  await world.work()
  await world.remove(gone)
  await world.work(() => ({ phase: 'DELETE_FAILED', error: { code: 'STUCK', message: 'It stays.' } }))
  expect(causesOf(await phaseline('health --json'))).toEqual(['DECISION gone 1'])

  await world.create('resting', {})
  await world.create('held', { deployItems: [item('a'), item('b')] })
  for (const name of ['held', 'resting']) expect(await phaseline(`pause ${name}`)).toMatchObject({ code: 0 })
  expect(causesOf(await phaseline('health --json'))).toEqual(['PAUSED held 4', 'DECISION gone 1'])
  // A long list is counted, and its first causes are named.
  for (let n = 0; n < 20; n += 1) {
    await world.create(`more-${n}`, { deployItems: [item('a')] })
    expect(await phaseline(`pause more-${n}`)).toMatchObject({ code: 0 })
  }
  const many = await phaseline('health')
  expect(many.out).toMatch(/^DEGRADED {2}22 causes\n.*… and 2 more\n$/s)
  expect(causesOf(await phaseline('health --json'))).toHaveLength(20)
})

const PREPARE = gql(`mutation ($url: String!, $secret: String!) {
  createSchedule(input: {
    project: "default", name: "nightly", when: { cron: ["0 0 1 1 *"] }, run: { reconcileInstallation: { name: "none" } }
  }) { __typename ... on Schedule { id } }
  createHook(input: { project: "default", name: "push", format: GENERIC, secrets: [{ name: "first", value: $secret }] }) {
    __typename ... on Error { message }
  }
  createNotificationRule(input: { project: "default", name: "tell", receiver: { webhook: { url: $url } } }) { __typename }
}`)
const FIRE = gql('mutation ($id: ID!) { fireSchedule(input: { id: $id }) { __typename } }')

test('schedules, hooks, holds and tokens that need a person are causes; administrators alone see the tokens', async () => {
  await using database = await createTestDatabase()
  await using app = await startTestApp({ env: { DATABASE_URL: database.url } })
  const phaseline = commandLine({ PHASELINE_URL: app.url, PHASELINE_TOKEN: app.token })
  const secret = 'a-secret-of-a-hook'
  const { createSchedule, createHook } = await app.client.query(PREPARE, { url: 'http://127.0.0.1:9/', secret })
  expect(createHook).toMatchObject({ __typename: 'Hook' })
  const id = present(createSchedule && 'id' in createSchedule ? createSchedule.id : null)
  await app.client.query(FIRE, { id })
  const post = { method: 'POST', headers: { authorization: `Bearer ${secret}` }, body: 'no JSON' }
  expect((await fetch(`${app.origin}/hooks/default/push`, post)).status).toBe(422)
  await ask(app.client, MUTATIONS.createToken, { name: 'short', role: 'READER', expiresInMs: 60_000 })
  const { secret: reader } = await ask(app.client, MUTATIONS.createToken, { name: 'viewer', role: 'READER' })
  const day = 86_400_000
  await ask(app.client, MUTATIONS.createToken, { name: 'ci', role: 'READER', expiresInMs: 5 * day })
  await database.pool.query(`update token set created_at = created_at - interval '30 days' where name = 'ci'`)

  const records = ['SCHEDULE_REFUSED nightly 1', 'HOOK_REFUSES push 1']
  await until(async () => causesOf(await phaseline('health --json')).length === 3, { what: 'all are told' })
  expect(causesOf(await phaseline('health --json'))).toEqual([...records, 'TOKEN_EXPIRES ci 1'])
  const viewer = commandLine({ PHASELINE_URL: app.url, PHASELINE_TOKEN: reader })
  expect(causesOf(await viewer('health --json'))).toEqual(records)
  expect(await phaseline('automation hold --reason drill')).toMatchObject({ code: 0 })
  const held = await viewer('health --project default')
  expect(held).toMatchObject({ code: 5, out: expect.stringContaining('automation held: all projects') })
})
