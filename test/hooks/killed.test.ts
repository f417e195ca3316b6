import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { readPages } from '../../src/client-model/index.ts'
import { present } from '../testkit/ask.ts'
import { gql } from '../testkit/gql.ts'
import { startServer } from '../testkit/server.ts'
import { soak } from '../testkit/soak.ts'

const PROJECT = gql(
  `mutation { createProject(input: { name: "ci", workerTemplate: { command: ["true"] } }) { __typename } }`,
)
const CREATE = gql(`mutation ($input: CreateHookInput!) { answer: createHook(input: $input) { ... on Hook { id } } }`)
const READ = gql(`query ($id: ID!, $first: Int!, $after: String) {
  node(id: $id) { ... on Hook { deliveries(first: $first, after: $after) {
    totalCount pageInfo { hasNextPage endCursor } edges { node { outcome deliveryId started { id } } }
  } } }
}`)
const EVENTS = gql(`query ($first: Int!, $after: String) {
  objects(filter: { project: "ci", kinds: [EVENT] }, first: $first, after: $after) {
    totalCount pageInfo { hasNextPage endCursor } edges { node { id ... on Event { payload } } }
  }
}`)
const SECRET = 'a secret that both sides have'

test('whatever is killed, each delivery that is sent until it is accepted has one event', async () => {
  await using server = await startServer()
  await server.client.query(PROJECT)
  const input = {
    ...{ project: 'ci', name: 'sent', format: 'GENERIC' as const, secrets: [{ name: 'one', value: SECRET }] },
    ...{ deliveryId: '${body.id}', event: { payload: '${body.id}' } },
  }
  const id = (await server.client.query(CREATE, { input })).answer?.id ?? ''
  const answered = new Map<string, string>()
  let [isOver, attempts] = [false, 0]
  /** As senders do: again, with the same id, until it is accepted. */
  const send = async (body: string): Promise<string> => {
    for (;;) {
      attempts += 1
      try {
        const response = await fetch(`${new URL(server.url).origin}/hooks/ci/sent`, {
          ...{ method: 'POST', headers: { authorization: `Bearer ${SECRET}` }, body },
        })
        const { deliveries } = (await response.json()) as { deliveries?: { eventId: string | null }[] }
        const eventId = deliveries?.[0]?.eventId
        if (response.ok && eventId) return eventId
        // A server that starts or ends says 503; anything else would be said for ever.
        if (response.status !== 503) throw new Error(`${response.status}: ${JSON.stringify(deliveries)}`)
      } catch (error) {
        // It is down.
        if (!(error instanceof TypeError)) throw error
      }
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
  const sender = async (): Promise<void> => {
    while (!isOver) {
      const name = randomUUID()
      answered.set(name, await send(JSON.stringify({ id: name })))
    }
  }
  const senders = [sender(), sender(), sender()]
  for (let round = 0; round < soak(3, 30); round += 1) {
    const before = answered.size
    while (answered.size < before + 5) await new Promise((resolve) => setTimeout(resolve, 20))
    await server.kill()
    await server.start()
  }
  isOver = true
  await Promise.all(senders)
  expect(attempts).toBeGreaterThan(answered.size)
  const { nodes: events } = present(
    await readPages(100_000, async (first, after) => (await server.client.query(EVENTS, { first, after })).objects),
  )
  expect(new Map(events.map((event) => [event.payload ?? '', event.id]))).toEqual(answered)
  expect(events).toHaveLength(answered.size)
  const { nodes } = present(
    await readPages(100_000, async (first, after) => {
      const { node } = await server.client.query(READ, { id, first, after })
      return node?.deliveries ?? null
    }),
  )
  const accepted = nodes.filter(({ outcome }) => outcome === 'ACCEPTED')
  expect(new Map(accepted.map((each) => [each.deliveryId, each.started?.id]))).toEqual(answered)
  expect(accepted).toHaveLength(answered.size)
})
