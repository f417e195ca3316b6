import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { SMTPServer } from 'smtp-server'
import { expect, test } from 'vitest'
import { readPages } from '../../../src/client-model/index.ts'
import { startTestApp } from '../../testkit/app.ts'
import { present } from '../../testkit/ask.ts'
import { gql } from '../../testkit/gql.ts'
import { startReceiver } from '../../testkit/receiver.ts'
import { startServer } from '../../testkit/server.ts'
import { soak } from '../../testkit/soak.ts'
import { until } from '../../testkit/wait.ts'

const RULE = gql(`mutation ($input: CreateNotificationRuleInput!) {
  answer: createNotificationRule(input: $input) { ... on NotificationRule { id } ... on Error { message } }
}`)
const DATA = gql(`mutation ($name: String!) {
  createInstallation(input: { name: $name, spec: {} }) { __typename }
}`)
const CHANGES = gql(`query ($first: Int!, $after: String) {
  phaseChanges(filter: { kinds: [INSTALLATION] }, first: $first, after: $after) {
    totalCount pageInfo { hasNextPage endCursor } edges { node { object { id } sequence } }
  }
}`)
const READ = gql(`query ($id: ID!) { node(id: $id) { ... on NotificationRule { pendingCount } } }`)

test.for([
  { title: 'each change', digest: null },
  { title: 'each change of a digest', digest: { windowMs: 1_000 } },
])('whatever is killed, $title is told at least once, and in order for each object', async ({ digest }) => {
  await using receiver = await startReceiver()
  await using server = await startServer({ env: { PHASELINE_NOTIFICATION_NETWORKS: '127.0.0.1' } })
  // Some answers are lost, some are failures.
  let n = 0
  receiver.answer = () => (++n % 7 === 0 ? 500 : n % 11 === 0 ? null : 204)
  const input = {
    name: 'all',
    changes: { kinds: ['INSTALLATION' as const] },
    receiver: { webhook: { url: receiver.url } },
    digest,
  }
  const created = present((await server.client.query(RULE, { input })).answer)
  const id = ('id' in created && created.id) || ''
  for (let round = 0; round < soak(3, 30); round += 1) {
    await Promise.all(Array.from({ length: 5 }, (_, i) => server.client.query(DATA, { name: `t-${round}-${i}` })))
    await until(() => receiver.received.length > round * (digest ? 1 : 5), { what: 'some are told' })
    await server.kill()
    await server.start()
  }
  receiver.answer = () => 204
  const told = () =>
    receiver.received
      .filter(({ status }) => status === 204)
      .flatMap(({ body }): { objectId: string; sequence: number }[] => {
        const { change, changes } = JSON.parse(body).data
        return changes ?? [change]
      })
  const sequences = () => new Set(told().map(({ sequence }) => sequence))
  const written = await until(
    async () => {
      const { nodes } = present(
        await readPages(
          100_000,
          async (first, after) => (await server.client.query(CHANGES, { first, after })).phaseChanges,
        ),
      )
      return nodes.length === sequences().size ? nodes : null
    },
    { what: 'all are told' },
  )
  const isSent = async () => {
    const { node } = await server.client.query(READ, { id })
    return node && 'pendingCount' in node && node.pendingCount === 0
  }
  await until(isSent, { what: 'no message waits' })
  expect([...sequences()].toSorted((a, b) => a - b)).toEqual(written.map(({ sequence }) => sequence))
  // The first time that each was taken.
  for (const changes of Map.groupBy(told(), ({ objectId }) => objectId).values()) {
    const order = [...new Set(changes.map(({ sequence }) => sequence))]
    expect(order).toEqual(order.toSorted((a, b) => a - b))
  }
})

test('people get an e-mail', async () => {
  const mails: string[] = []
  const smtp = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onData: async (stream, _, done) => {
      let text = ''
      for await (const part of stream) text += part
      mails.push(text)
      done()
    },
  })
  const listening = smtp.listen(0, '127.0.0.1')
  await once(listening, 'listening')
  await using stack = new AsyncDisposableStack()
  stack.defer(() => new Promise<void>((resolve) => smtp.close(() => resolve())))
  const { port } = listening.address() as AddressInfo
  await using app = await startTestApp({
    env: { PHASELINE_SMTP_URL: `smtp://127.0.0.1:${port}`, PHASELINE_SMTP_FROM: 'Phaseline <ops@example.org>' },
  })
  const receiver = { email: { to: ['team@example.org', 'boss@example.org'] } }
  await app.client.query(RULE, { input: { name: 'mail', changes: { to: ['SUCCEEDED'] }, receiver } })
  await app.client.query(DATA, { name: 'shop' })
  const mail = await until(() => mails[0], { what: 'the e-mail comes' })
  expect(mail).toMatch(/^To: team@example\.org, boss@example\.org\r$/m)
  expect(mail).toMatch(/^Subject: \[Phaseline\] Installation default\/shop is SUCCEEDED\r$/m)
  expect(mail).toMatch(/^Message-ID: <[\da-f-]{36}@phaseline>\r$/im)
})
