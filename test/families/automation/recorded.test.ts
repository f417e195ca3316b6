import { expect, test } from 'vitest'
import { startTestApp } from '../../testkit/app.ts'
import { present } from '../../testkit/ask.ts'
import { gql } from '../../testkit/gql.ts'
import { startReceiver } from '../../testkit/receiver.ts'
import { until } from '../../testkit/wait.ts'

const PREPARE = gql(`mutation ($url: String!) {
  createProject(input: { name: "ci", workerTemplate: { command: ["true"] } }) { __typename }
  createInstallation(input: { project: "ci", name: "empty", spec: {} }) { __typename ... on Error { message } }
  createNotificationRule(input: {
    project: "ci", name: "schedules", receiver: { webhook: { url: $url } }
    changes: { kinds: [SCHEDULE], reasons: ["LATE", "OVERLAP", "REFUSED", "OVERDUE"] }
  }) { __typename ... on NotificationRule { changes { reasons } } }
}`)
const CREATE = gql(
  `mutation ($input: CreateScheduleInput!) { answer: createSchedule(input: $input) { ... on Schedule { id } ... on Error { message } } }`,
)
const FIRE = gql(`mutation ($id: ID!) { fireSchedule(input: { id: $id }) { __typename } }`)
const READ = gql(`query ($id: ID!) {
  object(id: $id) { deadlines { name } ... on Schedule { scheduleSpec { successWithinSeconds } } }
  phaseChanges(filter: { objectId: $id }, last: 50) { edges { node { from to reason message } } }
}`)

test('what is late, skipped, refused or overdue is a change of the log, and rules tell it', async () => {
  await using receiver = await startReceiver()
  await using app = await startTestApp({ env: { PHASELINE_NOTIFICATION_NETWORKS: '127.0.0.1' } })
  const { createNotificationRule } = await app.client.query(PREPARE, { url: receiver.url })
  expect(createNotificationRule).toMatchObject({ changes: { reasons: ['LATE', 'OVERLAP', 'REFUSED', 'OVERDUE'] } })
  const yearly = { project: 'ci', when: { cron: ['0 0 1 1 *'] } }
  const event = { createEvent: { source: 'cron', type: 'night' } }
  const create = async (input: object) => {
    const { answer } = await app.client.query(CREATE, { input: { ...yearly, run: event, ...input } as never })
    if (!(answer && 'id' in answer && answer.id)) throw new Error(JSON.stringify(answer))
    return answer.id
  }
  const read = async (id: string) => {
    const { object, phaseChanges } = await app.client.query(READ, { id })
    return { object, changes: present(phaseChanges).edges.map(({ node }) => node) }
  }
  const reasonsOf = async (id: string) => (await read(id)).changes.flatMap(({ reason }) => reason ?? [])
  const untilRecorded = (id: string, reason: string) =>
    until(async () => (await reasonsOf(id)).includes(reason), { what: `it is ${reason}` })

  const refused = await create({ name: 'refused', run: { reconcileInstallation: { name: 'none' } } })
  const overlapping = await create({ name: 'overlapping' })
  await app.client.query(FIRE, { id: refused })
  for (let i = 0; i < 2; i += 1) await app.client.query(FIRE, { id: overlapping })
  await untilRecorded(refused, 'REFUSED')
  expect((await read(refused)).changes.at(-1)?.message).toMatch(/^The time .* is refused: NOT_FOUND: .*[^.]\.$/)
  await untilRecorded(overlapping, 'OVERLAP')
  // Nothing is in time without grace.
  const late = await create({
    name: 'late',
    when: { every: { ms: 1_000 } },
    overlap: 'ALLOW',
    catchUp: 'ALL',
    graceMs: 0,
  })
  await untilRecorded(late, 'LATE')

  const watched = await create({
    name: 'watched',
    successWithinSeconds: 5,
    run: { reconcileInstallation: { name: 'empty', mode: 'FORCE' } },
  })
  expect((await read(watched)).object).toMatchObject({
    scheduleSpec: { successWithinSeconds: 5 },
    deadlines: [{ name: 'due' }, { name: 'overdue' }],
  })
  await untilRecorded(watched, 'OVERDUE')
  expect((await read(watched)).object?.deadlines).toEqual([{ name: 'due' }])
  await app.client.query(FIRE, { id: watched })
  await until(async () => (await reasonsOf(watched)).filter((one) => one === 'OVERDUE').length === 2, {
    what: 'a success counts anew, and it is overdue again',
  })
  const told = () => new Set(receiver.received.map(({ body }) => JSON.parse(body).data.change.reason))
  await until(() => told().size === 4, { what: 'all are told' })
  expect(told()).toEqual(new Set(['LATE', 'OVERLAP', 'REFUSED', 'OVERDUE']))
})
