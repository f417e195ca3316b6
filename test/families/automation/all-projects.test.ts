import { afterAll, beforeAll, expect, test } from 'vitest'
import { createClient } from '../../../src/client/index.ts'
import type { VariablesOf } from '../../../src/documents/typed-document.ts'
import { startTestApp, type TestApp } from '../../testkit/app.ts'
import { present } from '../../testkit/ask.ts'
import { gql } from '../../testkit/gql.ts'
import { startReceiver } from '../../testkit/receiver.ts'
import { until } from '../../testkit/wait.ts'

/** Hooks and notification rules that act beyond their project. */

const SECRET = 'a secret that both sides have'
const PROJECT = gql(`mutation ($name: String!) {
  createProject(input: { name: $name, workerTemplate: { command: ["true"] } }) { __typename }
}`)
const TOKEN = gql(
  `mutation ($input: CreateTokenInput!) { createToken(input: $input) { ... on CreatedToken { secret } } }`,
)
const HOOK = gql(`mutation ($input: CreateHookInput!) {
  answer: createHook(input: $input) { __typename ... on Hook { id projects event { project } } ... on Error { code message } }
}`)
const RULE = gql(`mutation ($input: CreateNotificationRuleInput!) {
  answer: createNotificationRule(input: $input) { __typename ... on NotificationRule { id changes { projects } } ... on Error { code message } }
}`)
const EDIT = gql(`mutation ($input: UpdateHookInput!) { answer: updateHook(input: $input) { __typename } }`)
const REMOVE = gql(`mutation ($hook: ID!, $rule: ID!) {
  deleteHook(input: { id: $hook }) { __typename }
  deleteNotificationRule(input: { id: $rule }) { __typename }
  testNotificationRule(input: { id: $rule }) { __typename }
}`)
const SEEN = gql(`query ($hook: String!, $rule: String!, $ids: [ID!]!) {
  hook(project: "ops", name: $hook) { id deliveries(first: 50) { edges { node { id outcome reason started { project { name } } } } } }
  notificationRule(project: "ops", name: $rule) { id mayRead notifications(first: 9) { totalCount } }
  hooks(project: "ops") { totalCount edges { node { name } } }
  notificationRules(project: "ops") { totalCount edges { node { name } } }
  nodes(ids: $ids) { __typename }
}`)
const HOLD = gql(
  `mutation ($project: String) { holdAutomation(input: { project: $project, reason: "a drill" }) { __typename } }`,
)
const RELEASE = gql(`mutation ($project: String) { releaseAutomation(input: { project: $project }) { __typename } }`)
const REPLAY = gql(
  `mutation ($id: ID!) { answer: replayDelivery(input: { id: $id }) { __typename ... on Error { code } } }`,
)
const EVENT = gql(
  `mutation ($project: String!) { createEvent(input: { project: $project, source: "test", type: "push" }) { __typename } }`,
)

let app: TestApp
beforeAll(async () => {
  app = await startTestApp({ env: { PHASELINE_NOTIFICATION_NETWORKS: '127.0.0.0/8' } })
  for (const name of ['ops', 'shop', 'site', 'vault']) await app.client.query(PROJECT, { name })
})
afterAll(() => app[Symbol.asyncDispose]())

type HookInput = VariablesOf<typeof HOOK>['input']
const hookInput = (name: string, more: Partial<HookInput> = {}): HookInput => ({
  ...{ project: 'ops', name, format: 'GENERIC' as const, secrets: [{ name: 'one', value: SECRET }] },
  ...{ projects: ['shop', 'site', 'gone'], event: { project: '${body.for}' } },
  ...more,
})
async function post(name: string, body: object) {
  const response = await fetch(`${app.origin}/hooks/ops/${name}`, {
    ...{ method: 'POST', headers: { authorization: `Bearer ${SECRET}`, 'content-type': 'application/json' } },
    body: JSON.stringify(body),
  })
  const { deliveries } = (await response.json()) as { deliveries: { id: string; outcome: string; reason: string }[] }
  return { status: response.status, ...present(deliveries[0]) }
}
async function clientOf(role: 'USER' | 'READER', name: string, projects?: readonly string[]) {
  const input = { name, role, ...(projects && { projects: [...projects] }) }
  const { createToken } = await app.client.query(TOKEN, { input })
  if (!createToken?.secret) throw new Error('no token')
  return createClient({ url: app.url, token: createToken.secret })
}

test('a sender chooses among the projects that the hook names, and no others', async () => {
  const made = present((await app.client.query(HOOK, { input: hookInput('chooses') })).answer)
  expect(made).toMatchObject({ projects: ['shop', 'site', 'gone'], event: { project: '${body.for}' } })
  expect(await post('chooses', { for: 'shop' })).toMatchObject({ status: 202, outcome: 'ACCEPTED' })
  expect(await post('chooses', { for: 'site' })).toMatchObject({ status: 202 })
  for (const chosen of ['vault', 'ops', '*', '', 'Shop', ['shop'], { a: 'shop' }, 7, null])
    expect(await post('chooses', { for: chosen })).toMatchObject({
      ...{
        status: 422,
        outcome: 'REFUSED',
        reason: expect.stringMatching(/^PROJECT: .* which the hook does not name/),
      },
    })
  expect(await post('chooses', {})).toMatchObject({ status: 422 })
  expect(await post('chooses', { for: 'gone' })).toMatchObject({
    status: 422,
    reason: 'PROJECT: There is no project "gone".',
  })
  const { hook } = await app.client.query(SEEN, { hook: 'chooses', rule: 'none', ids: [] })
  const started = hook?.deliveries.edges.flatMap(({ node }) => node.started?.project?.name ?? [])
  expect(started).toEqual(['site', 'shop'])
})

test('a hold of the chosen project, or of its own, stops a delivery', async () => {
  await app.client.query(HOOK, { input: hookInput('held') })
  for (const project of ['shop', 'ops']) {
    await app.client.query(HOLD, { project })
    expect(await post('held', { for: 'shop' })).toMatchObject({ status: 503, reason: expect.stringMatching(/^HELD/) })
    expect((await post('held', { for: 'site' })).status).toBe(project === 'shop' ? 202 : 503)
    await app.client.query(RELEASE, { project })
  }
  expect((await post('held', { for: 'shop' })).status).toBe(202)
})

test('projects and their choice belong together', async () => {
  const refused = async (more: Partial<HookInput>) =>
    (await app.client.query(HOOK, { input: hookInput('half', more) })).answer
  expect(await refused({ projects: null })).toMatchObject({
    message: expect.stringContaining('input.projects: is missing'),
  })
  expect(await refused({ event: {} })).toMatchObject({
    message: expect.stringContaining('input.event.project: is missing'),
  })
  expect(await refused({ event: { project: '${body.' } })).toMatchObject({ __typename: 'InvalidInputError' })
})

test('only administrators write and see what acts in other projects', async () => {
  await using receiver = await startReceiver()
  const receives = { webhook: { url: receiver.url } }
  const input = { project: 'ops', name: 'all', changes: { projects: ['*'] }, receiver: receives }
  const hook = present((await app.client.query(HOOK, { input: hookInput('secret') })).answer)
  const rule = present((await app.client.query(RULE, { input })).answer)
  if (!('id' in hook && 'id' in rule && hook.id && rule.id)) throw new Error('not created')
  const { id: delivery } = await post('secret', { for: 'shop' })
  const seen = { hook: 'secret', rule: 'all', ids: [hook.id, rule.id, delivery] }
  const all = await app.client.query(SEEN, seen)
  expect(all).toMatchObject({ hook: { id: hook.id }, notificationRule: { id: rule.id, mayRead: true } })
  expect(all.nodes).toEqual([
    { __typename: 'Hook' },
    { __typename: 'NotificationRule' },
    { __typename: 'HookDelivery' },
  ])
  await using one = await clientOf('USER', 'one', ['ops', 'shop', 'site'])
  await using every = await clientOf('USER', 'every')
  await using reader = await clientOf('READER', 'reader')
  for (const client of [one, every, reader]) {
    expect(await client.query(SEEN, seen)).toEqual({
      ...{ hook: null, notificationRule: null, nodes: [null, null, null] },
      hooks: { totalCount: 0, edges: [] },
      notificationRules: { totalCount: 0, edges: [] },
    })
  }
  for (const client of [one, every]) {
    const done = await client.query(REMOVE, { hook: hook.id, rule: rule.id })
    expect(Object.values(done).map((each) => each?.__typename)).toEqual(Array(3).fill('NotFoundError'))
    expect((await client.query(EDIT, { input: { id: hook.id, format: 'GENERIC' } })).answer?.__typename).toBe(
      'NotFoundError',
    )
    expect((await client.query(REPLAY, { id: delivery })).answer?.__typename).toBe('NotFoundError')
    const named = { ...input, name: 'other' }
    expect((await client.query(RULE, { input: named })).answer).toMatchObject({
      ...{ __typename: 'ForbiddenError', message: expect.stringContaining('ADMINISTRATOR for all projects') },
    })
    const own = { ...named, changes: { projects: ['ops'] } }
    expect((await client.query(RULE, { input: own })).answer?.__typename).toBe('ForbiddenError')
    expect((await client.query(HOOK, { input: hookInput('other') })).answer?.__typename).toBe('ForbiddenError')
  }
})

test('a rule tells the changes of the projects that it names, or of all, with the project of each', async () => {
  await using receiver = await startReceiver()
  await using everywhere = await startReceiver()
  const changes = { kinds: ['EVENT' as const], to: ['PENDING' as const] }
  const rule = (name: string, projects: string[], url: string) =>
    app.client.query(RULE, {
      input: { project: 'ops', name, changes: { ...changes, projects }, receiver: { cloudEvents: { url } } },
    })
  await rule('two', ['shop', 'vault'], receiver.url)
  await rule('every', ['*'], everywhere.url)
  for (const project of ['site', 'vault', 'ops', 'shop']) await app.client.query(EVENT, { project })
  const projectsAt = ({ received }: { received: readonly { body: string }[] }) =>
    received.map(({ body }) => {
      const { data, source } = JSON.parse(body)
      expect([data.project, source]).toEqual(['ops', `/projects/${data.change.project}`])
      return data.change.project as string
    })
  await until(() => everywhere.received.length === 4 && receiver.received.length === 2, { what: 'all are told' })
  expect(projectsAt(everywhere).sort()).toEqual(['ops', 'shop', 'site', 'vault'])
  expect(projectsAt(receiver).sort()).toEqual(['shop', 'vault'])
})
