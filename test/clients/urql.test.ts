import { Client, fetchExchange, subscriptionExchange } from '@urql/core'
import { cacheExchange } from '@urql/exchange-graphcache'
import { persistedExchange } from '@urql/exchange-persisted'
import { introspectionFromSchema } from 'graphql'
import { createClient } from 'graphql-ws'
import { expect, onTestFinished, test } from 'vitest'
import { WebSocket } from 'ws'
import { schema } from '../testkit/mutate.ts'
import { CREATE, FOLLOW, openPlace, READ } from './place.ts'

test.each([true, false])('urql with its normalised cache, and hashes by GET: %s', async (byGet) => {
  await using place = await openPlace()
  const warnings: string[] = []
  let requests = 0
  const socket = createClient({ url: place.socketUrl, webSocketImpl: WebSocket, connectionParams: place.headers })
  onTestFinished(async () => socket.dispose())
  const client = new Client({
    url: place.url,
    preferGetMethod: byGet,
    fetchOptions: { headers: place.headers },
    fetch: (...args) => {
      requests += 1
      return fetch(...args)
    },
    exchanges: [
      cacheExchange({ schema: introspectionFromSchema(schema), logger: (_, text) => warnings.push(text) }),
      persistedExchange({ preferGetForPersistedQueries: byGet, enableForMutation: true }),
      fetchExchange,
      subscriptionExchange({
        forwardSubscription: ({ query = '', variables }) => ({
          subscribe: (sink) => ({
            unsubscribe: socket.subscribe({ query, ...(variables ? { variables } : {}) }, sink as never),
          }),
        }),
      }),
    ],
  })
  const created = await client.mutation<any>(CREATE, { name: 'urql' }).toPromise()
  const id = created.data?.createInstallation.id
  expect(created.error).toBeUndefined()
  const read = () => client.query<any>(READ, { id }).toPromise()
  expect((await read()).data?.object).toMatchObject({ __typename: 'Installation', name: 'urql', generation: 1 })
  const before = requests
  expect((await read()).data?.object.name).toBe('urql')
  expect(requests).toBe(before)
  const changed = await new Promise<any>((resolve) => {
    const { unsubscribe } = client.subscription<any>(FOLLOW, { id }).subscribe((result) => {
      resolve(result)
      setImmediate(() => unsubscribe())
    })
  })
  expect(changed.data.phaseChanges.name).toBe('urql')
  expect(warnings).toEqual([])
})
