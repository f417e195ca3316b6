import { createClient as createEvents } from 'graphql-sse'
import { createClient as createSocket } from 'graphql-ws'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { WebSocket } from 'ws'
import { type ClientPlace, CREATE, FOLLOW, openPlace, READ } from './place.ts'

let place: ClientPlace
beforeAll(async () => {
  place = await openPlace()
})
afterAll(() => place[Symbol.asyncDispose]())

const CLIENTS = {
  'graphql-ws': () =>
    createSocket({ url: place.socketUrl, webSocketImpl: WebSocket, connectionParams: place.headers, retryAttempts: 0 }),
  'graphql-sse': () => createEvents({ url: place.url, headers: place.headers, retryAttempts: 0 }),
}
test.each(Object.keys(CLIENTS) as (keyof typeof CLIENTS)[])('%s runs what there is', async (name) => {
  const client = CLIENTS[name]()
  onTestFinished(async () => client.dispose())
  const ask = async (query: string, variables: Record<string, unknown>): Promise<any> => {
    for await (const result of client.iterate({ query, variables })) return result
  }
  const created = await ask(CREATE, { name })
  const { id } = created.data.createInstallation
  expect(await ask(READ, { id })).toMatchObject({ data: { object: { name, generation: 1 } } })
  expect(await ask(FOLLOW, { id })).toMatchObject({ data: { phaseChanges: { name } } })
})
