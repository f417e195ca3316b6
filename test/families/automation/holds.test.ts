import { expect, test } from 'vitest'
import { startTestApp } from '../../testkit/app.ts'
import { present } from '../../testkit/ask.ts'
import { gql } from '../../testkit/gql.ts'
import { startReceiver } from '../../testkit/receiver.ts'
import { until } from '../../testkit/wait.ts'

const SECRET = 'a-secret-of-a-hook'
const PREPARE = gql(`mutation ($secret: String!, $url: String!) {
  createProject(input: { name: "ci", workerTemplate: { command: ["true"] } }) { __typename }
  createHook(input: { project: "ci", name: "in", format: GENERIC, secrets: [{ name: "first", value: $secret }] }) { __typename ... on Error { message } }
  createNotificationRule(input: {
    project: "ci", name: "out", changes: { kinds: [EVENT], to: [PENDING] }, receiver: { webhook: { url: $url } }
  }) { __typename }
  createSchedule(input: {
    project: "ci", name: "each", when: { every: { ms: 1000 } }, overlap: ALLOW
    run: { createEvent: { source: "schedule", type: "second" } }
  }) { __typename ... on Schedule { id } }
}`)
const HOLD = gql(`mutation ($project: String) {
  answer: holdAutomation(input: { project: $project, reason: "a drill" }) { __typename ... on AutomationHold { by reason project { name } } }
}`)
const RELEASE = gql(`mutation ($project: String) {
  answer: releaseAutomation(input: { project: $project }) { __typename ... on Error { code } }
}`)
const READ = gql(`query ($id: ID!) {
  automationHolds { reason project { name } }
  object(id: $id) { ... on Schedule { firings(first: 1) { edges { node { due outcome reason } } } } }
}`)

test.for([{ project: 'ci' }, { project: null }])(
  'while automation of $project is held, nothing happens by itself',
  async ({ project }) => {
    await using receiver = await startReceiver()
    await using app = await startTestApp({ env: { PHASELINE_NOTIFICATION_NETWORKS: '127.0.0.1' } })
    const prepared = await app.client.query(PREPARE, { secret: SECRET, url: receiver.url })
    const id = (prepared.createSchedule && 'id' in prepared.createSchedule && prepared.createSchedule.id) || ''
    const last = async () => {
      const { object } = await app.client.query(READ, { id })
      return object?.firings?.edges[0]?.node
    }
    const post = () =>
      fetch(`${app.origin}/hooks/ci/in`, { method: 'POST', headers: { authorization: `Bearer ${SECRET}` }, body: '{}' })
    await until(async () => (await last())?.outcome === 'FIRED' && receiver.received.length > 0, { what: 'it fires' })
    expect((await post()).status).toBe(202)
    const held = present((await app.client.query(HOLD, { project })).answer)
    expect(held).toMatchObject({ by: 'admin', reason: 'a drill', project: project && { name: project } })
    await until(async () => (await last())?.reason === 'HELD', { what: 'a firing is skipped' })
    expect((await post()).status).toBe(503)
    // An event of a person: it runs, and nobody hears of it.
    const before = receiver.received.length
    await app.client.query(EVENT)
    const since = Date.parse((await last())?.due ?? '')
    const isPassed = async () => {
      const firing = await last()
      return firing?.reason === 'HELD' && Date.parse(firing.due) > since + 2_000
    }
    await until(isPassed, { what: 'two more times have come' })
    const { automationHolds } = await app.client.query(READ, { id })
    expect(automationHolds).toEqual([{ reason: 'a drill', project: project && { name: project } }])
    expect((await app.client.query(RELEASE, { project })).answer).toMatchObject({ __typename: 'ReleasedAutomation' })
    await until(async () => (await last())?.outcome === 'FIRED', { what: 'it fires again' })
    await until(() => receiver.received.length > before, { what: 'it is told' })
    const told = receiver.received.slice(before).map(({ body }) => JSON.parse(body).data.change.by)
    expect(told).not.toContain('admin')
    expect((await app.client.query(RELEASE, { project })).answer).toMatchObject({ code: 'NOT_FOUND' })
  },
)

test('a hold without a reason is refused', async () => {
  await using app = await startTestApp({ env: { PHASELINE_ROLES: 'gateway' } })
  for (const reason of ['', ' \n'])
    expect((await app.client.query(HOLD_FOR, { reason })).answer).toMatchObject({
      fields: [{ path: 'input.reason', message: 'must not be empty' }],
    })
  expect((await app.client.query(gql('{ automationHolds { by } }'))).automationHolds).toEqual([])
})

const HOLD_FOR = gql(`mutation ($reason: String!) {
  answer: holdAutomation(input: { reason: $reason }) { __typename ... on InvalidInputError { fields { path message } } }
}`)
const EVENT = gql(`mutation { createEvent(input: { project: "ci", source: "person", type: "push" }) { __typename } }`)
